import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { bin, checkout, type How, node, run } from "./command.ts";
import { type Count, inOneLine } from "./count.ts";

/** How long each file and each test of the stages took that Jest ran. */
const durations: Record<"files" | "tests", { readonly title: string; readonly seconds: number }[]> = {
  files: [],
  tests: [],
};

/** How Jest is run, and its further flags. */
interface JestHow extends How {
  readonly flags?: readonly string[];
}

/**
 * Runs projects of Jest, so many of their test files at once ("100%": one for each processor; Jest would leave one out).
 * Counts what Jest counted; a run that ends badly without a failed test (a suite that does not load) is a failure too.
 */
export async function jest(
  projects: readonly string[],
  maxWorkers: number | "100%",
  how: JestHow = {},
): Promise<Count> {
  const folder = mkdtempSync(join(tmpdir(), "ephemeral-test-"));
  const outputFile = join(folder, "result.json");
  const config = ["--config", "test/jest.config.mjs", "--selectProjects", ...projects];
  const workers = `--maxWorkers=${maxWorkers}`;
  try {
    const args = [
      bin("jest"),
      ...config,
      ...narrowed(),
      ...(how.flags ?? []),
      workers,
      "--json",
      `--outputFile=${outputFile}`,
    ];
    const code = await run(node, args, how);
    const result: JestResult = existsSync(outputFile) ? JSON.parse(readFileSync(outputFile, "utf8")) : {};
    noteDurations(result, how);
    const { numPassedTests: passed = 0, numPendingTests: skipped = 0 } = result;
    const failed = failures(result, how);
    if (failed.length === 0 && code !== 0) failed.push(`${projects.join(", ")}: Jest ended with ${code}`);
    return { passed, failed, skipped };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What Jest writes into its output file, as far as it is read here. */
interface JestResult {
  readonly numPassedTests?: number;
  readonly numPendingTests?: number;
  readonly testResults?: readonly {
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
  }[];
}

/** FILE: a part of a file's path; NAME: a part of a test's title. */
function narrowed(): string[] {
  const { FILE, NAME } = process.env;
  // The file may be another project's: a run that finds none at all fails at its end.
  return [
    ...(FILE ? ["--passWithNoTests", "--testPathPatterns", FILE] : []),
    ...(NAME ? ["--testNamePattern", NAME] : []),
  ];
}

/** A line for each failed test, and for each file that could not be run. */
function failures({ testResults = [] }: JestResult, how: How): string[] {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(how.checkout ?? checkout, name);
    const failed = assertionResults.filter((one) => one.status === "failed");
    if (failed.length === 0) return status === "failed" ? [`${file}: ${inOneLine(message)}`] : [];
    return failed.map(
      ({ fullName, failureMessages }) => `${file}: ${fullName}: ${inOneLine(failureMessages?.[0] ?? "")}`,
    );
  });
}

function noteDurations({ testResults = [] }: JestResult, how: How): void {
  for (const { name, startTime, endTime, assertionResults } of testResults) {
    const file = relative(how.checkout ?? checkout, name);
    durations.files.push({ title: file, seconds: (endTime - startTime) / 1000 });
    for (const { fullName, duration } of assertionResults)
      durations.tests.push({ title: `${file}: ${fullName}`, seconds: (duration ?? 0) / 1000 });
  }
}

/** Where the time went: the ten slowest files and tests of all stages. */
export function printSlowest(): void {
  for (const [kind, all] of Object.entries(durations)) {
    if (all.length === 0) continue;
    console.log(`slowest ${kind}:`);
    const slowest = all.toSorted((one, other) => other.seconds - one.seconds).slice(0, 10);
    for (const { title, seconds } of slowest) console.log(`  ${seconds.toFixed(1).padStart(6)} s  ${title}`);
    console.log("");
  }
}
