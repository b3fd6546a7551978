/**
 * Runs the stages of the test suite in order, some beside those that come after them, and closes with `N passed, N failed`.
 * Every stage runs, also after a failure, so that one run tells all. Usage: run.ts [STAGE …]
 */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pLimit from "p-limit";
import { buildAll } from "../deploy/local/builds/build-all.ts";
import { showProgress } from "../deploy/local/progress.ts";
import { auditStage } from "./stages/audit.ts";
import { bin, node, run } from "./stages/command.ts";
import { type Count, inOneLine, NOTHING, sum } from "./stages/count.ts";
import { jest, printSlowest } from "./stages/jest.ts";
import { type Beside, e2e, e2eInstall } from "./stages/local-clusters.ts";
import startPlanes from "./support/plane/control-plane-start.ts";
import stopPlanes from "./support/plane/control-plane-stop.ts";

/** Two at a time; the one that takes longest begins first. */
const checks: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ["import zones and promises", bin("oxlint"), "--type-aware", "--deny-warnings"],
  ["generated CRDs", node, "crds/generate.ts", "--check"],
  ["generated OpenAPI document", node, "api/generate.ts", "--check"],
  ["generated table of metrics", node, "operator/adapters/prometheus/generate.ts", "--check"],
  ["generated table of settings", node, "config/generate.ts", "--check"],
  ["generated table of rights", node, "operator/installation/generate.ts", "--check"],
  ["generated dashboards", node, "deploy/dashboards/generate.ts", "--check"],
  ["generated types of the client", node, "clients/sdk/generate.ts", "--check"],
  ["generated tools of the command line", node, "clients/cli/mcp/generate.ts", "--check"],
  ["types", bin("tsc"), "-p", "."],
  ["types of the console", bin("tsc"), "-p", "clients/console"],
  ["types of the console's stories", bin("tsc"), "-p", "e2e/console"],
  ["format and lint", bin("biome"), "ci", "--colors=off", "--error-on-warnings", "."],
];

/** Stages that run together, and how: all of them, or those that are named. */
interface Run {
  readonly names: readonly string[];
  run(names: readonly string[], beside?: Beside): Promise<Count>;
  /** Beside the stages that come after it, until the next one that is aside. */
  readonly isAside?: boolean;
  /** With the control planes that all such stages share: each file finds its own as new. */
  readonly onPlanes?: boolean;
}

/** A process for each file: an operator that a fault has ended in the middle of a pass may write until its process ends. */
const FRESH = { flags: ["--workerIdleMemoryLimit=1KB"] };

/** The stages in order. */
const runs: readonly Run[] = [
  { names: ["verify"], run: verify },
  { names: ["audit"], run: auditStage },
  // Waits for most of its time, as the other one that is aside. One after the other: a machine has room for one local cluster.
  {
    names: ["e2e-install"],
    run: (_names, beside) => e2eInstall({ ...beside, isWhole: wanted.length === 0 }),
    isAside: true,
  },
  // Together, where they share the modules that a worker has loaded.
  { names: ["unit", "contract"], run: (names) => jest(names, "100%") },
  // These wait much of the time, so that more fit on any machine; what they judge has deadlines, so that not all do.
  { names: ["ports"], run: (names) => jest(names, 2), onPlanes: true },
  { names: ["control-plane"], run: (names) => jest(names, 6), onPlanes: true },
  // Each leaves a processor idle for half of its time.
  { names: ["faults", "schemathesis"], run: faultsAndSchemathesis, onPlanes: true },
  { names: ["e2e", "e2e-console"], run: e2e, isAside: true },
  { names: ["generators"], run: generators },
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
  if (one.isAside) {
    await show?.();
    show = undefined;
  }
  if (one.isAside && one !== chosen.at(-1)) show = aside(one);
  else await inView(one);
}
await stopPlanes();
computed.resolve();
await show?.();
printSlowest();
for (const line of total.failed) console.log(`FAILED ${line}`);
if (total.skipped > 0) console.log(`${total.skipped} skipped`);
console.log(`${total.passed} passed, ${total.failed.length} failed`);
process.exitCode = total.failed.length > 0 || total.passed === 0 ? 1 : 0;

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
  return `${passed} passed, ${failed.length} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

async function verify(): Promise<Count> {
  const check = async ([name, command, ...args]: (typeof checks)[number]): Promise<Count> => {
    const ok = (await run(command, args)) === 0;
    console.log(`${ok ? "ok  " : "FAIL"} ${name}`);
    return { ...NOTHING, passed: ok ? 1 : 0, failed: ok ? [] : [`verify: ${name}`] };
  };
  return (await pLimit(2).map(checks, check)).reduce(sum, NOTHING);
}

async function faultsAndSchemathesis(names: readonly string[]): Promise<Count> {
  const kinds = [
    ["faults", () => jest(["faults"], 4, FRESH)],
    ["schemathesis", schemathesis],
  ] as const;
  const wantedKinds = kinds.filter(([name]) => names.includes(name));
  return (await Promise.all(wantedKinds.map(([, start]) => start().catch(crashed)))).reduce(sum, NOTHING);
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
  return tryDocument();
}

/** A stage that can't tell its results has failed; the others go on. */
function crashed(error: unknown): Count {
  console.error(error);
  return { ...NOTHING, failed: [`a stage can't tell its results: ${inOneLine(String(error))}`] };
}
