import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { bin, checkout, type How, node, run } from "./command.ts";
import { type Failure, failedStage, type Outcome } from "./outcome.ts";
import { projectOf } from "./projects.ts";

interface JestHow extends How {
  /** Path of the configuration; default: the project's. */
  readonly config?: string;
  readonly flags?: readonly string[];
  /** The files to run, instead of those selected by FILE and NAME. */
  readonly files?: readonly string[] | undefined;
}

/** Files at once: more than processors would keep a small machine so busy that checks miss their deadlines. */
export const perProcessor = (most: number): number => Math.min(availableParallelism(), most);

const STAGES: Readonly<Record<string, string>> = { "e2e-alone": "e2e", "e2e-install-scenes": "e2e-install" };

/**
 * Runs projects of Jest with that many concurrent test files ("100%": one for each processor; Jest would leave one out). A
 * failing run without a failed test is a failure of the stage.
 */
export async function jest(
  projects: readonly string[],
  maxWorkers: number | "100%",
  how: JestHow = {},
): Promise<Outcome[]> {
  const folder = mkdtempSync(join(tmpdir(), "ephemeral-test-"));
  const outputFile = join(folder, "result.json");
  try {
    const args = [
      bin("jest"),
      "--config",
      how.config ?? "test/jest.config.mjs",
      "--selectProjects",
      ...projects,
      // The files may be another project's.
      ...(how.files === undefined ? narrowed() : ["--passWithNoTests", "--runTestsByPath", ...how.files]),
      ...(how.flags ?? []),
      `--maxWorkers=${how.files === undefined ? maxWorkers : 1}`,
      "--json",
      `--outputFile=${outputFile}`,
    ];
    const code = await run(node, args, how);
    const result: JestResult = existsSync(outputFile) ? JSON.parse(readFileSync(outputFile, "utf8")) : {};
    const outcomes = (result.testResults ?? []).map((one) => outcomeOfFile(one, projects[0] ?? "", how.checkout));
    const hasFailures = outcomes.some(({ failures }) => failures.length > 0);
    if (code === 0 || hasFailures) return outcomes;
    const failure = { message: `Jest ended with ${code}.`, causeInOutput: true } as const;
    return [...outcomes, failedStage(stageNamed(projects[0] ?? ""), failure)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The stage of a Jest project. */
export function stageNamed(project: string): string {
  return STAGES[project] ?? project;
}

interface FileResult {
  readonly name: string;
  readonly startTime: number;
  readonly endTime: number;
  readonly status: string;
  readonly message: string;
  readonly assertionResults: readonly {
    readonly fullName: string;
    readonly status: string;
    readonly duration?: number | null;
    readonly failureMessages: readonly string[] | null;
  }[];
}

interface JestResult {
  readonly testResults?: readonly FileResult[];
}

/** FILE: a part of a file's path; NAME: a part of a test's title. */
function narrowed(): string[] {
  const { FILE, NAME } = process.env;
  // The file may be another project's: a run without any fails at its end.
  return [
    ...(FILE ? ["--passWithNoTests", "--testPathPatterns", FILE] : []),
    ...(NAME ? ["--testNamePattern", NAME] : []),
  ];
}

function outcomeOfFile(result: FileResult, project: string, folder = checkout): Outcome {
  const { name, startTime, endTime, status, message, assertionResults } = result;
  const file = relative(folder, name);
  const having = (expected: string) => assertionResults.filter((one) => one.status === expected);
  const failures: Failure[] = having("failed").map(({ fullName, failureMessages }) => ({
    title: fullName,
    message: failureMessages?.[0] ?? "",
  }));
  if (failures.length === 0 && status === "failed") failures.push({ message });
  return {
    stage: stageNamed(projectOf(file) ?? project),
    file,
    passed: having("passed").length,
    skipped: having("pending").length,
    failures,
    seconds: (endTime - startTime) / 1000,
    tests: assertionResults.map(({ fullName, duration }) => ({ title: fullName, seconds: (duration ?? 0) / 1000 })),
  };
}
