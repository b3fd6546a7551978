import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { bin, type How, node, run } from "./command.ts";
import { type Failure, failedStage, type Outcome } from "./outcome.ts";

/** Debian's browser, of the package `chromium-headless-shell`, unless CHROMIUM is set. */
export const browser = process.env.CHROMIUM ?? "/usr/bin/chromium-headless-shell";

/** The reason why browser tests can't run here, in one sentence; `undefined` when they can. */
export function whyNoBrowser(): string | undefined {
  if (existsSync(browser)) return undefined;
  return `There is no browser at ${browser}: "apt-get install chromium-headless-shell" brings it, CHROMIUM names another.`;
}

interface PlaywrightHow extends How {
  readonly stage: string;
  /** Path of the configuration below the checkout. */
  readonly config: string;
  /** The files to run, instead of those selected by FILE and NAME. */
  readonly files?: readonly string[] | undefined;
}

/**
 * Runs the tests of that project of Playwright's configuration. A failing run without a failed test is a failure of the
 * stage.
 */
export async function playwright(project: string, { stage, config, files, ...how }: PlaywrightHow): Promise<Outcome[]> {
  const folder = mkdtempSync(join(tmpdir(), "ephemeral-test-"));
  const outputFile = join(folder, "result.json");
  const env = { ...(how.env ?? process.env), PLAYWRIGHT_RESULT: outputFile };
  try {
    const chosen = files === undefined ? narrowed() : ["--pass-with-no-tests", ...files];
    const args = [bin("playwright"), "test", `--config=${config}`, `--project=${project}`, ...chosen];
    const code = await run(node, args, { ...how, env });
    const result: Result = existsSync(outputFile) ? JSON.parse(readFileSync(outputFile, "utf8")) : {};
    const outcomes = (result.suites ?? []).map((suite) => outcomeOfFile(stage, dirname(config), suite));
    const hasFailures = outcomes.some(({ failures }) => failures.length > 0);
    if (code === 0 || hasFailures) return outcomes;
    const message = `Playwright ended with ${code} in its project ${project}.`;
    return [...outcomes, failedStage(stage, { message, causeInOutput: true })];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Result {
  readonly suites?: readonly Suite[];
}

interface Spec {
  readonly title: string;
  readonly file: string;
  readonly tests: readonly {
    /** `flaky`: it failed, and passed at the second try. */
    readonly status: "expected" | "unexpected" | "flaky" | "skipped";
    readonly results: readonly { readonly duration: number; readonly error?: { readonly message?: string } }[];
  }[];
}

interface Suite {
  readonly file: string;
  readonly suites?: readonly Suite[];
  readonly specs: readonly Spec[];
}

function outcomeOfFile(stage: string, folder: string, suite: Suite): Outcome {
  const specs = specsOf(suite);
  const having = (...statuses: string[]) =>
    specs.filter(({ tests }) => tests.some(({ status }) => statuses.includes(status)));
  const tests = specs.map((spec) => ({ title: spec.title, seconds: secondsOf(spec) }));
  return {
    stage,
    file: join(folder, suite.file),
    passed: having("expected").length,
    skipped: having("skipped").length,
    failures: having("unexpected", "flaky").map(failureOf),
    seconds: tests.reduce((sum, { seconds }) => sum + seconds, 0),
    tests,
  };
}

function specsOf({ specs, suites = [] }: Suite): Spec[] {
  return [...specs, ...suites.flatMap(specsOf)];
}

function secondsOf({ tests }: Spec): number {
  return tests.flatMap(({ results }) => results).reduce((sum, { duration }) => sum + duration / 1000, 0);
}

function failureOf({ title, tests }: Spec): Failure {
  const errors = tests.flatMap(({ results }) => results.flatMap(({ error }) => error?.message ?? []));
  return { title, message: errors[0] ?? "" };
}

/** FILE: a part of a file's path; NAME: a part of a test's title. */
function narrowed(): string[] {
  const { FILE, NAME } = process.env;
  // The test may be another project's: a run without any fails at its end.
  return [
    ...(FILE || NAME ? ["--pass-with-no-tests"] : []),
    ...(FILE ? [FILE] : []),
    ...(NAME ? ["--grep", NAME] : []),
  ];
}
