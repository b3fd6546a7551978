/**
 * Runs the stages of the test suite one after the other, the last ones side by side, and closes with `N passed, N failed`.
 * Every stage runs, also after a failure, so that one run tells all. Usage: run.ts [STAGE …]
 */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildAll } from "../deploy/local/builds/build-all.ts";
import { isRunning } from "../deploy/local/cluster.ts";
import { whyNot } from "../deploy/local/prerequisites.ts";
import { showProgress } from "../deploy/local/progress.ts";
import { bin, checkout, node, type Output, run } from "./stages/command.ts";
import { type Count, jest, printSlowest } from "./stages/jest.ts";

const NOTHING: Count = { passed: 0, failed: 0, skipped: 0 };

const launcher = join(checkout, "deploy/local/main.ts");

const checks: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ["generated CRDs", node, "crds/generate.ts", "--check"],
  ["generated OpenAPI document", node, "api/generate.ts", "--check"],
  ["types", bin("tsc"), "-p", "."],
  ["format and lint", bin("biome"), "ci", "--colors=off", "--error-on-warnings", "."],
  ["import zones and promises", bin("oxlint"), "--type-aware", "--deny-warnings"],
];

const stages: Readonly<Record<string, (output?: Output) => Promise<Count>>> = {
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

/** What computes while the stories of e2e wait for most of their time. */
const BESIDE_E2E = ["generators", "schemathesis"];

let total = NOTHING;
const chosen = Object.keys(stages).filter((name) => wanted.length === 0 || wanted.includes(name));
const isLast = (name: string) => name === "e2e" || BESIDE_E2E.includes(name);
for (const name of chosen.filter((one) => !isLast(one))) await inView(name);
const isAside = chosen.includes("e2e") && chosen.some((name) => BESIDE_E2E.includes(name));
/** What kills the operator hits the moment that it means only where nothing computes beside it. */
const computed = Promise.withResolvers<void>();
const stories = isAside ? aside("e2e") : undefined;
for (const name of chosen.filter((one) => BESIDE_E2E.includes(one))) await inView(name);
computed.resolve();
if (stories !== undefined) await stories();
else if (chosen.includes("e2e")) await inView("e2e");
printSlowest();
if (total.skipped > 0) console.log(`${total.skipped} skipped`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 ? 1 : 0;

/** Runs a stage, and shows what it prints. */
async function inView(name: string): Promise<void> {
  const began = performance.now();
  const count = (await stages[name]?.().catch(crashed)) ?? NOTHING;
  tell(name, count, performance.now() - began);
}

/** Starts a stage whose programs write into a file; the answer waits for its end and shows that. */
function aside(name: string): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "ephemeral-test-"));
  const file = join(folder, "output");
  const output = openSync(file, "w");
  const began = performance.now();
  const ended = (stages[name]?.(output) ?? Promise.resolve(NOTHING)).catch(crashed);
  const took = ended.then(() => performance.now() - began);
  return async () => {
    const count = await ended;
    closeSync(output);
    process.stdout.write(readFileSync(file));
    rmSync(folder, { recursive: true, force: true });
    tell(name, count, await took);
  };
}

function tell(name: string, count: Count, tookMs: number): void {
  total = sum(total, count);
  console.log(`\n== ${name}: ${words(count)} in ${(tookMs / 1000).toFixed(0)} s\n`);
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
async function e2e(output: Output = "inherit"): Promise<Count> {
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
      if ((await run(node, [launcher, command], { env: local, output })) !== 0) return { ...NOTHING, failed: 1 };
    }
    const told = { env: { ...process.env, ...shellVariables() }, output };
    const side = await jest("e2e", told);
    await computed.promise;
    return sum(side, await jest("e2e-alone", told));
  } finally {
    if (!ranBefore) await run(node, [launcher, "down"], { env: local, output });
  }
}

function shellVariables(): Record<string, string> {
  const text = readFileSync(join(checkout, ".local/env"), "utf8");
  return Object.fromEntries([...text.matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name, value]) => [name, value]));
}
