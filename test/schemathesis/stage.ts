import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type Outcome, outcomeOf } from "../stages/outcome.ts";
import { installedPython } from "../support/plane/python.ts";
import { type ServedPlatform, servePlatform } from "./served-platform.ts";

const VERSIONS = { v1: "^/api/(?!v2/)", v2: "^/api/v2/" } as const;
const DEADLINE_MS = 10 * 60_000;
/** Constant, so that a new failure comes from a change. */
const DEFAULT_SEED = "1";

/**
 * Runs schemathesis with the whole document on the served platform, each API version separately and concurrently, because
 * each mostly waits. Failures are printed; another FUZZ_SEED draws other inputs.
 */
export async function tryDocument(): Promise<Outcome[]> {
  const python = await installedPython("schemathesis", join(import.meta.dirname, "requirements.txt"));
  const platform = await servePlatform();
  const folder = await mkdtemp(join(tmpdir(), "schemathesis-"));
  try {
    const seed = process.env.FUZZ_SEED ?? DEFAULT_SEED;
    const runs = Object.keys(VERSIONS).map((version) =>
      tryVersion(version as keyof typeof VERSIONS, { python, platform, folder, seed }),
    );
    const outcomes = await Promise.all(runs);
    console.log(`drawn with FUZZ_SEED=${seed}`);
    return outcomes;
  } finally {
    await platform.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Trial {
  readonly python: string;
  readonly platform: ServedPlatform;
  readonly folder: string;
  readonly seed: string;
}

/** A report of schemathesis; https://schemathesis.readthedocs.io/en/stable/reference/reporting/. */
interface Report {
  readonly operations: { readonly tested: number };
  readonly test_cases: { readonly generated: number };
  readonly failures: readonly { readonly operations: readonly string[] }[];
  readonly errors: readonly unknown[];
}

async function tryVersion(version: keyof typeof VERSIONS, { python, platform, folder, seed }: Trial): Promise<Outcome> {
  const reportFile = join(folder, `${version}.json`);
  const config = ["--no-color", "--config-file", join(import.meta.dirname, "schemathesis.toml")];
  const what = [`${platform.url}/openapi.json`, "--include-path-regex", VERSIONS[version], "--seed", seed];
  // Explicit, because schemathesis takes the document's relative server as a path of its own.
  const where = ["--url", platform.url];
  const how = ["--header", `Authorization: Bearer ${platform.token}`, "--report-json-path", reportFile];
  const child = spawn(python, ["-m", "schemathesis.cli", ...config, "run", ...what, ...where, ...how], {
    cwd: folder,
    env: {
      ...process.env,
      SCHEMATHESIS_HOOKS: join(import.meta.dirname, "hooks.py"),
      WEBHOOK_KEY: platform.webhookKey,
    },
    stdio: ["ignore", "pipe", "inherit"],
    timeout: DEADLINE_MS,
  });
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, "exit") as Promise<[number | null]>]);
  if (code === null || !existsSync(reportFile)) {
    console.log(`${said}\n${version}: schemathesis did not come to its end`);
    const failures = [{ title: version, message: `schemathesis did not come to its end\n${said.slice(-2_000)}` }];
    return outcomeOf("schemathesis", { failures });
  }
  const report = JSON.parse(await readFile(reportFile, "utf8")) as Report;
  const lost = new Set(report.failures.flatMap(({ operations }) => operations));
  const failed = [...lost, ...report.errors.map((error) => JSON.stringify(error))];
  if (failed.length === 0 && code !== 0) failed.push(`it ended with ${code}`);
  if (failed.length > 0) console.log(said);
  console.log(`${version}: ${report.test_cases.generated} calls of ${report.operations.tested} operations`);
  return outcomeOf("schemathesis", {
    passed: Math.max(0, report.operations.tested - failed.length),
    failures: failed.map((what) => ({ title: `${version}: ${what}`, message: "its output says what was called" })),
  });
}
