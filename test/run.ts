/**
 * Runs the stages of the test suite one after the other and closes with `N passed, N failed`. Every stage runs, also
 * after a failure, so that one run tells all. Usage: run.ts [STAGE …]
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { buildAll } from "../deploy/local/builds/build-all.ts";
import { isRunning } from "../deploy/local/cluster.ts";
import { whyNot } from "../deploy/local/prerequisites.ts";
import { showProgress } from "../deploy/local/progress.ts";

interface Count {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const NOTHING: Count = { passed: 0, failed: 0, skipped: 0 };

/** How long each file and each test of the stages took that Jest ran. */
const durations: Record<"files" | "tests", { readonly title: string; readonly seconds: number }[]> = {
  files: [],
  tests: [],
};

const checkout = resolve(import.meta.dirname, "..");
const node = process.execPath;
const bin = (name: string) => join(checkout, "node_modules/.bin", name);
const launcher = join(checkout, "deploy/local/main.ts");

const checks: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ["generated CRDs", node, "crds/generate.ts", "--check"],
  ["generated OpenAPI document", node, "api/generate.ts", "--check"],
  ["types", bin("tsc"), "-p", "."],
  ["format and lint", bin("biome"), "ci", "--colors=off", "--error-on-warnings", "."],
  ["import zones and promises", bin("oxlint"), "--type-aware", "--deny-warnings"],
];

/** How many test files at once. What only computes takes the whole machine, of which Jest would leave a processor out. */
const WORKERS = {
  unit: "100%",
  contract: "100%",
  // These wait most of the time, so that more fit on any machine; what they judge has deadlines, so that not all do.
  ports: 2,
  "control-plane": 4,
  faults: 3,
  e2e: 4,
  // What these break, all others need.
  "e2e-alone": 1,
} as const;

const stages: Readonly<Record<string, () => Promise<Count>>> = {
  verify,
  unit: () => jest("unit"),
  contract: () => jest("contract"),
  ports: () => jest("ports"),
  "control-plane": () => jest("control-plane"),
  faults,
  generators,
  schemathesis,
  e2e,
};

// Most of what a stage's programs do first is to compile the same modules again.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), "node-compile-cache");

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in stages));
if (unknown.length > 0) {
  console.error(`unknown stage: ${unknown.join(", ")}; there are ${Object.keys(stages).join(", ")}`);
  process.exit(2);
}

// A whole run builds first, where no test waits for it and the progress shows. The stage that needs a build repeats its error.
if (wanted.length === 0) await buildAll(showProgress()).catch((error: Error) => console.error(error.message));

let total = NOTHING;
for (const [name, run] of Object.entries(stages)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const began = performance.now();
  const count = await run();
  total = sum(total, count);
  console.log(`\n== ${name}: ${words(count)} in ${((performance.now() - began) / 1000).toFixed(0)} s\n`);
}
printSlowest();
if (total.skipped > 0) console.log(`${total.skipped} skipped`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 ? 1 : 0;

function words({ passed, failed, skipped }: Count): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

function sum(one: Count, other: Count): Count {
  return {
    passed: one.passed + other.passed,
    failed: one.failed + other.failed,
    skipped: one.skipped + other.skipped,
  };
}

async function verify(): Promise<Count> {
  const count = { ...NOTHING };
  for (const [name, command, ...args] of checks) {
    const ok = (await run(command, args)) === 0;
    console.log(`${ok ? "ok  " : "FAIL"} ${name}`);
    count[ok ? "passed" : "failed"]++;
  }
  return count;
}

/** Counts what Jest counted; a run that ends badly without a failed test (a suite that does not load) is a failure too. */
async function jest(project: keyof typeof WORKERS): Promise<Count> {
  const folder = mkdtempSync(join(tmpdir(), "ephemeral-test-"));
  const outputFile = join(folder, "result.json");
  const flags = ["--experimental-vm-modules", "--disable-warning=ExperimentalWarning"];
  const config = ["--config", "test/jest.config.mjs", "--selectProjects", project];
  const workers = `--maxWorkers=${WORKERS[project]}`;
  try {
    const args = [...flags, bin("jest"), ...config, ...narrowed(), workers, "--json", `--outputFile=${outputFile}`];
    const code = await run(node, args);
    const result: JestResult = existsSync(outputFile) ? JSON.parse(readFileSync(outputFile, "utf8")) : {};
    noteDurations(result);
    const { numPassedTests: passed = 0, numFailedTests: failed = 0, numPendingTests: skipped = 0 } = result;
    return { passed, failed: failed === 0 && code !== 0 ? 1 : failed, skipped };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What Jest writes into its output file, as far as it is read here. */
interface JestResult {
  readonly numPassedTests?: number;
  readonly numFailedTests?: number;
  readonly numPendingTests?: number;
  readonly testResults?: readonly {
    readonly name: string;
    readonly startTime: number;
    readonly endTime: number;
    readonly assertionResults: readonly { readonly fullName: string; readonly duration?: number | null }[];
  }[];
}

/** FILE: a part of a file's path; NAME: a part of a test's title. */
function narrowed(): string[] {
  const { FILE, NAME } = process.env;
  return [...(FILE ? ["--testPathPatterns", FILE] : []), ...(NAME ? ["--testNamePattern", NAME] : [])];
}

function noteDurations({ testResults = [] }: JestResult): void {
  for (const { name, startTime, endTime, assertionResults } of testResults) {
    const file = relative(checkout, name);
    durations.files.push({ title: file, seconds: (endTime - startTime) / 1000 });
    for (const { fullName, duration } of assertionResults)
      durations.tests.push({ title: `${file}: ${fullName}`, seconds: (duration ?? 0) / 1000 });
  }
}

/** Where the time went: the ten slowest files and tests of all stages. */
function printSlowest(): void {
  for (const [kind, all] of Object.entries(durations)) {
    if (all.length === 0) continue;
    console.log(`slowest ${kind}:`);
    const slowest = all.toSorted((one, other) => other.seconds - one.seconds).slice(0, 10);
    for (const { title, seconds } of slowest) console.log(`  ${seconds.toFixed(1).padStart(6)} s  ${title}`);
    console.log("");
  }
}

/** Every plan when it is asked for by name; among all the other stages, one in eight: the order is drawn by the seed. */
function faults(): Promise<Count> {
  process.env.FAULT_SHARE ??= wanted.includes("faults") ? "1" : "8";
  return jest("faults");
}

/** Clients of the OpenAPI document, by the generators that people use; see test/generators. */
async function generators(): Promise<Count> {
  const { tryGenerators } = await import("./generators/stage.ts");
  return tryGenerators().catch(crashed);
}

/** Whatever the OpenAPI document says, tried on the platform's real process; see test/schemathesis. */
async function schemathesis(): Promise<Count> {
  // Loaded where it is wanted: no other stage needs a client of Kubernetes.
  const { tryDocument } = await import("./schemathesis/stage.ts");
  const { whyNoPython } = await import("./support/plane/python.ts");
  const obstacle = await whyNoPython();
  if (obstacle !== undefined) {
    console.log(`schemathesis is skipped. ${obstacle}`);
    return { ...NOTHING, skipped: 1 };
  }
  return tryDocument()
    .then((count) => ({ ...count, skipped: 0 }))
    .catch(crashed);
}

/** A stage that can't tell its results has failed; the others go on. */
function crashed(error: unknown): Count {
  console.error(error);
  return { ...NOTHING, failed: 1 };
}

/** On the local cluster: the one that runs, or one that is started for the tests and stopped after them. */
async function e2e(): Promise<Count> {
  const obstacle = whyNot();
  if (obstacle !== undefined) {
    console.log(`e2e is skipped. ${obstacle}`);
    return { ...NOTHING, skipped: 1 };
  }
  const ranBefore = await isRunning();
  // Whatever cluster the caller works with: the stories are told on the local one.
  const { CLUSTER: _, ...local } = process.env;
  try {
    for (const command of ["up", "gitea"]) {
      if ((await run(node, [launcher, command], local)) !== 0) return { ...NOTHING, failed: 1 };
    }
    Object.assign(process.env, shellVariables());
    return sum(await jest("e2e"), await jest("e2e-alone"));
  } finally {
    if (!ranBefore) await run(node, [launcher, "down"], local);
  }
}

function shellVariables(): Record<string, string> {
  const text = readFileSync(join(checkout, ".local/env"), "utf8");
  return Object.fromEntries([...text.matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name, value]) => [name, value]));
}

/** The command's exit code, 127 when it can't be started; its output is ours. */
async function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<number> {
  const child = spawn(command, args, { cwd: checkout, stdio: ["ignore", "inherit", "inherit"], env });
  try {
    const [code] = (await once(child, "close")) as [number | null];
    return code ?? 1;
  } catch (error) {
    console.error(`${command} can't be started: ${(error as Error).message}`);
    return 127;
  }
}
