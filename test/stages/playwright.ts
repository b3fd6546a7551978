import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bin, type How, node, run } from "./command.ts";
import { type Count, inOneLine } from "./count.ts";

/** Debian's browser, of the package `chromium-headless-shell`; another can be named. */
export const browser = process.env.CHROMIUM ?? "/usr/bin/chromium-headless-shell";

/** Why stories of a browser can't be told here, in one sentence; `undefined` when they can. */
export function whyNoBrowser(): string | undefined {
  if (existsSync(browser)) return undefined;
  return `There is no browser at ${browser}: "apt-get install chromium-headless-shell" brings it, CHROMIUM names another.`;
}

/** Has Playwright tell the stories of that project of the configuration. Counts what it counted; a run that ends badly without a failed story is a failure, too. */
export async function playwright(config: string, project: string, how: How = {}): Promise<Count> {
  const folder = mkdtempSync(join(tmpdir(), "ephemeral-test-"));
  const outputFile = join(folder, "result.json");
  const env = { ...(how.env ?? process.env), PLAYWRIGHT_RESULT: outputFile };
  try {
    const args = [bin("playwright"), "test", `--config=${config}`, `--project=${project}`, ...narrowed()];
    const code = await run(node, args, { ...how, env });
    const result: Result = existsSync(outputFile) ? JSON.parse(readFileSync(outputFile, "utf8")) : {};
    const { expected: passed = 0, skipped = 0 } = result.stats ?? {};
    const failed = (result.suites ?? []).flatMap(failures);
    if (failed.length === 0 && code !== 0) failed.push(`${config}: ${project}: Playwright ended with ${code}`);
    return { passed, failed, skipped };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What Playwright writes into its output file, as far as it is read here. */
interface Result {
  readonly stats?: { readonly expected?: number; readonly skipped?: number };
  readonly suites?: readonly Suite[];
}

/** A file, or what it groups. */
interface Suite {
  readonly suites?: readonly Suite[];
  readonly specs: readonly {
    readonly title: string;
    readonly file: string;
    readonly tests: readonly {
      /** `flaky`: it failed, and did not when it was tried again. */
      readonly status: "expected" | "unexpected" | "flaky" | "skipped";
      readonly results: readonly { readonly error?: { readonly message?: string } }[];
    }[];
  }[];
}

/** A line for each story that failed. */
function failures({ suites = [], specs }: Suite): string[] {
  const own = specs
    .filter(({ tests }) => tests.some(({ status }) => status === "unexpected" || status === "flaky"))
    .map(({ file, title, tests }) => {
      const errors = tests.flatMap(({ results }) => results.flatMap(({ error }) => error?.message ?? []));
      return `${file}: ${title}: ${inOneLine(errors[0] ?? "")}`;
    });
  return [...own, ...suites.flatMap(failures)];
}

/** FILE: a part of a file's path; NAME: a part of a story's title. */
function narrowed(): string[] {
  const { FILE, NAME } = process.env;
  // The story may be another project's: a run that finds none at all fails at its end.
  return [
    ...(FILE || NAME ? ["--pass-with-no-tests"] : []),
    ...(FILE ? [FILE] : []),
    ...(NAME ? ["--grep", NAME] : []),
  ];
}
