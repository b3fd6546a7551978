/**
 * Runs the stages of the test suite one after the other, the last ones side by side, and closes with `N passed, N failed`.
 * Every stage runs, also after a failure, so that one run tells all. Usage: run.ts [STAGE …]
 */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { whyNoImage } from "../deploy/image/pins.ts";
import { buildAll } from "../deploy/local/builds/build-all.ts";
import { isRunning } from "../deploy/local/cluster.ts";
import { whyNot } from "../deploy/local/prerequisites.ts";
import { showProgress } from "../deploy/local/progress.ts";
import { bin, checkout, node, type Output, print, run } from "./stages/command.ts";
import { type Count, jest, printSlowest } from "./stages/jest.ts";
import startPlanes from "./support/plane/control-plane-start.ts";
import stopPlanes from "./support/plane/control-plane-stop.ts";

const NOTHING: Count = { passed: 0, failed: 0, skipped: 0 };

const launcher = join(checkout, "deploy/local/main.ts");

const checks: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ["generated CRDs", node, "crds/generate.ts", "--check"],
  ["generated OpenAPI document", node, "api/generate.ts", "--check"],
  ["generated table of metrics", node, "operator/adapters/prometheus/generate.ts", "--check"],
  ["generated table of settings", node, "config/generate.ts", "--check"],
  ["generated table of rights", node, "operator/installation/generate.ts", "--check"],
  ["generated dashboards", node, "deploy/dashboards/generate.ts", "--check"],
  ["types", bin("tsc"), "-p", "."],
  ["format and lint", bin("biome"), "ci", "--colors=off", "--error-on-warnings", "."],
  ["import zones and promises", bin("oxlint"), "--type-aware", "--deny-warnings"],
];

/** What a stage that runs beside others is told: where its programs write, and when the others are over. */
interface Beside {
  readonly output: Output;
  readonly others: Promise<void>;
}

/** Stages that run together, and how: all of them, or those that are named. */
interface Run {
  readonly names: readonly string[];
  run(names: readonly string[], beside?: Beside): Promise<Count>;
  /** Beside the stages that come after it. */
  readonly isAside?: boolean;
  /** With the control planes that all such stages share: each file finds its own as new. */
  readonly onPlanes?: boolean;
}

/** A process for each file: an operator that a fault has ended in the middle of a pass may write until its process ends. */
const FRESH = { flags: ["--workerIdleMemoryLimit=1KB"] };

/** The stages in order. */
const runs: readonly Run[] = [
  { names: ["verify"], run: verify },
  // Together, where they share the modules that a worker has loaded.
  { names: ["unit", "contract"], run: (names) => jest(names, "100%") },
  // These wait much of the time, so that more fit on any machine; what they judge has deadlines, so that not all do.
  { names: ["ports"], run: (names) => jest(names, 2), onPlanes: true },
  { names: ["control-plane"], run: (names) => jest(names, 4), onPlanes: true },
  { names: ["faults"], run: (names) => jest(names, 3, FRESH), onPlanes: true },
  // Waits for most of its time; what comes beside it judges no time.
  { names: ["e2e", "e2e-install"], run: onLocalClusters, isAside: true },
  { names: ["generators"], run: generators },
  { names: ["schemathesis"], run: schemathesis, onPlanes: true },
];

// Every fault plan where faults alone are asked for; among all the other stages one in eight, in an order that is drawn by the seed.
process.env.FAULT_SHARE ??= process.argv.includes("faults") ? "1" : "8";
// Most of what a stage's programs do first is to compile the same modules again.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), "node-compile-cache");
// API servers, etcd and the like collect garbage a quarter as often: they live for minutes, and processors are what is short.
process.env.GOGC ??= "400";

const names = runs.flatMap((one) => one.names);
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  console.error(`unknown stage: ${unknown.join(", ")}; there are ${names.join(", ")}`);
  process.exit(2);
}

// A whole run builds first, where no test waits for it and the progress shows. The stage that needs a build repeats its error.
if (wanted.length === 0) await buildAll(showProgress()).catch((error: Error) => console.error(error.message));

let total = NOTHING;
const chosen = runs.map((one) => ({ ...one, names: one.names.filter(isWanted) })).filter((one) => one.names.length > 0);
const computed = Promise.withResolvers<void>();
let show: (() => Promise<void>) | undefined;
for (const one of chosen) {
  // The stage that can't have them repeats the error.
  if (one.onPlanes) await startPlanes().catch((error: Error) => console.error(error.message));
  if (one.isAside && one !== chosen.at(-1)) show = aside(one);
  else await inView(one);
}
await stopPlanes();
computed.resolve();
await show?.();
printSlowest();
if (total.skipped > 0) console.log(`${total.skipped} skipped`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;

function isWanted(name: string): boolean {
  return wanted.length === 0 || wanted.includes(name);
}

/** Runs a stage, and shows what it prints. */
async function inView({ names, run: start }: Run): Promise<void> {
  const began = performance.now();
  const count = await start(names).catch(crashed);
  tell(names, count, performance.now() - began);
}

/** Starts a stage whose programs write into a file; the answer waits for its end and shows that. */
function aside({ names, run: start }: Run): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "ephemeral-test-"));
  const file = join(folder, "output");
  const output = openSync(file, "w");
  const began = performance.now();
  const ended = start(names, { output, others: computed.promise }).catch(crashed);
  const took = ended.then(() => performance.now() - began);
  return async () => {
    const count = await ended;
    closeSync(output);
    process.stdout.write(readFileSync(file));
    rmSync(folder, { recursive: true, force: true });
    tell(names, count, await took);
  };
}

function tell(names: readonly string[], count: Count, tookMs: number): void {
  total = sum(total, count);
  console.log(`\n== ${names.join(", ")}: ${words(count)} in ${(tookMs / 1000).toFixed(0)} s\n`);
}

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

/** Clients of the OpenAPI document, by the generators that people use; see test/generators. */
async function generators(): Promise<Count> {
  const { tryGenerators } = await import("./generators/stage.ts");
  // Among all the other stages, what was tried before with the same document is not tried again.
  return tryGenerators({ remembers: wanted.length === 0 }).catch(crashed);
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
  return { ...(await tryDocument()), skipped: 0 };
}

/** A stage that can't tell its results has failed; the others go on. */
function crashed(error: unknown): Count {
  console.error(error);
  return { ...NOTHING, failed: 1 };
}

/** One after the other: a machine has room for one local cluster. */
async function onLocalClusters(names: readonly string[], beside?: Beside): Promise<Count> {
  let count = NOTHING;
  if (names.includes("e2e")) count = sum(count, await e2e(beside));
  if (names.includes("e2e-install")) count = sum(count, await e2eInstall(beside));
  return count;
}

/** The platform installed by helm, as pods, on a local cluster of its own. */
async function e2eInstall({ output = "inherit" }: Partial<Beside> = {}): Promise<Count> {
  const running = (await isRunning()) ? 'A local cluster runs here; "make down" stops it.' : undefined;
  const obstacle = running ?? whyNot() ?? (await whyNoImage());
  if (obstacle !== undefined) {
    print(`e2e-install is skipped. ${obstacle}`, output);
    return { ...NOTHING, skipped: 1 };
  }
  const { CLUSTER: _, ...local } = process.env;
  try {
    if ((await run(node, [launcher, "bare"], { env: local, output })) !== 0) return { ...NOTHING, failed: 1 };
    return await jest(["e2e-install"], 1, { env: { ...process.env, ...shellVariables() }, output });
  } finally {
    await run(node, [launcher, "down"], { env: local, output });
  }
}

/** On the local cluster: the one that runs, or one that is started for the tests and stopped after them. */
async function e2e({ output = "inherit", others }: Partial<Beside> = {}): Promise<Count> {
  const obstacle = whyNot();
  if (obstacle !== undefined) {
    print(`e2e is skipped. ${obstacle}`, output);
    return { ...NOTHING, skipped: 1 };
  }
  const ranBefore = await isRunning();
  // Whatever cluster the caller works with: the stories are told on the local one.
  const { CLUSTER: _, ...local } = process.env;
  try {
    for (const command of ["up", "gitea"]) {
      if ((await run(node, [launcher, command], { env: local, output })) !== 0) return { ...NOTHING, failed: 1 };
    }
    const told = { env: { ...process.env, ...shellVariables() }, output };
    const side = await jest(["e2e"], 4, told);
    // What kills the operator hits the moment that it means only where nothing computes beside it.
    await others;
    return sum(side, await jest(["e2e-alone"], 1, told));
  } finally {
    if (!ranBefore) await run(node, [launcher, "down"], { env: local, output });
  }
}

function shellVariables(): Record<string, string> {
  const text = readFileSync(join(checkout, ".local/env"), "utf8");
  return Object.fromEntries([...text.matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name, value]) => [name, value]));
}
