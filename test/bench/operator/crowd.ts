import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { quantile } from "../table.ts";
import { apiServerCpuSeconds } from "./api-server-cpu.ts";
import { type BenchWorld, inParallel } from "./bench-world.ts";
import { patternOf } from "./copies.ts";
import type { Figures, MeasuredOperator, Quantiles } from "./measured-operator.ts";
import type { Verdict } from "./verdict.ts";

export interface CrowdSizes {
  readonly environments: number;
  /** How many of them are due at the same moment. */
  readonly due: number;
  /** How often the operator is started on all of them. */
  readonly restarts: number;
  /** A time in which nothing happens but what recurs, measured after every start. */
  readonly calmMs: number;
  /** From a start to the moment at which many are due: enough to converge before. */
  readonly dueAfterMs: number;
}

const DEADLINE_MS = 300_000;
const HOUR_MS = 3_600_000;
const TTL_HOURS = 24;
const LONG_TTL_HOURS = 168;

/** What an operator costs that has so many environments to look after, and how it starts and ends many. */
export async function measureCrowd(bench: BenchWorld, sizes: CrowdSizes): Promise<Verdict[]> {
  const empty = await emptyFigures(bench, sizes);
  const due = await makeCrowd(bench, sizes);
  // Whatever the way of making them left to be said differently is said in this pass.
  await restart(bench, sizes);
  const restarts: Restart[] = [];
  for (let index = 0; index < sizes.restarts; index += 1) restarts.push(await restart(bench, sizes));
  const lateMs = await expiries(bench, due, sizes);
  const plainMs = await plainDeletions(bench, sizes);
  return [...restartVerdicts(restarts), memoryVerdict(restarts, empty, sizes), expiryVerdict(lateMs, plainMs)];
}

/** Of an operator that looks after nothing, or after the few that other measures left behind. */
async function emptyFigures(
  bench: BenchWorld,
  { calmMs }: CrowdSizes,
): Promise<Figures & { readonly environments: number }> {
  const { items } = await bench.world.admin.list(environmentType, { metadataOnly: true });
  const operator = bench.startOperator({ measuresDelays: true });
  await operator.converged(DEADLINE_MS);
  await rest(calmMs);
  const figures = await operator.figures();
  await operator.stop();
  return { ...figures, environments: items.length };
}

/** Answers the names of those that are due together: one as the other is a copy of an environment of the operator's. */
async function makeCrowd(bench: BenchWorld, { environments, due }: CrowdSizes): Promise<readonly string[]> {
  const { items: known } = await bench.world.admin.list(environmentType, { metadataOnly: true });
  const names = await copies(bench, "due", { count: due, ttlHours: TTL_HOURS });
  await copies(bench, "crowd", { count: Math.max(1, environments - known.length - due), ttlHours: LONG_TTL_HOURS });
  progress("waiting for the API server's own controllers");
  await bench.untilQuiet();
  return names;
}

/** As many environments, all as old as the first. */
async function copies(
  bench: BenchWorld,
  prefix: string,
  { count, ttlHours }: { count: number; ttlHours: number },
): Promise<readonly string[]> {
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${String(index).padStart(6, "0")}`);
  const [first = "", ...others] = names;
  const operator = bench.startOperator();
  await bench.create(first, { ttlHours });
  await bench.ready.reached(first, DEADLINE_MS);
  await bench.world.reconcile(first);
  await operator.stop();
  await bench.untilQuiet();
  const pattern = await patternOf(bench.world.plane.etcdSocket, first);
  await pattern.copyTo(others);
  progress(`${count} copies of '${first}' were put into etcd`);
  return names;
}

interface Restart {
  readonly seconds: number;
  /** What the API server computed meanwhile. */
  readonly apiServerSeconds: number;
  readonly figures: Figures;
  readonly calm: Figures;
}

async function restart(bench: BenchWorld, { environments, calmMs }: CrowdSizes): Promise<Restart> {
  const before = await apiServerCpuSeconds(bench.world.admin);
  const operator = bench.startOperator({ measuresDelays: true });
  const figures = await operator.converged(DEADLINE_MS);
  const seconds = (figures.convergedAtMs - operator.startedAtMs) / 1000;
  const apiServerSeconds = (await apiServerCpuSeconds(bench.world.admin)) - before;
  progress(`${environments} environments: converged ${seconds.toFixed(1)} s after the start; ${memory(figures)}`);
  await operator.restartDelays();
  await rest(calmMs);
  const calm = await operator.figures();
  await operator.stop();
  return { seconds, apiServerSeconds, figures, calm };
}

/** Milliseconds from the moment at which all of them were due to the answer to each one's deletion. */
async function expiries(bench: BenchWorld, due: readonly string[], sizes: CrowdSizes): Promise<readonly number[]> {
  const { metadata } = (await bench.world.find(due[0] as string)) as EphemeralEnvironment;
  const dueAtMs = Date.parse(metadata.creationTimestamp) + TTL_HOURS * HOUR_MS;
  // Whole seconds: the header that the API server's clock is read from tells no more.
  const aheadMs = Math.ceil((dueAtMs - Date.now() - sizes.dueAfterMs) / 1000) * 1000;
  const operator = bench.startOperator({ aheadMs, measuresDelays: true });
  // Whoever converges late shows it in the figure.
  await operator.converged(DEADLINE_MS);
  const expired = await expiredAll(operator, due);
  await operator.stop();
  return due.map((name) => (expired[name] as number) - dueAtMs);
}

/** What as many deletions take a client that has nothing else to do and waits for no moment; in milliseconds each. */
async function plainDeletions(bench: BenchWorld, { due }: CrowdSizes): Promise<readonly number[]> {
  await bench.untilQuiet();
  const { items } = await bench.world.admin.list(environmentType, { metadataOnly: true });
  const living = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined).slice(0, due);
  const began = performance.now();
  return inParallel(living, async ({ metadata: { name, uid, resourceVersion } }) => {
    await bench.asPlatform.delete(environmentType, { name }, { uid, resourceVersion });
    return performance.now() - began;
  });
}

async function expiredAll(operator: MeasuredOperator, due: readonly string[]): Promise<Figures["expired"]> {
  for (const began = performance.now(); performance.now() - began < DEADLINE_MS; await rest(1_000)) {
    const { expired } = await operator.figures();
    if (due.every((name) => name in expired)) return expired;
  }
  throw new Error("not every environment that is due was deleted");
}

function restartVerdicts(restarts: readonly Restart[]): Verdict[] {
  const seconds = restarts.map((restart) => restart.seconds);
  const writes = restarts.map(({ calm }) => calm.writes);
  const delays = restarts.map(({ figures }) => figures.delayMs);
  const calm = restarts.map((restart) => restart.calm.delayMs);
  const turns = restarts.map(({ figures }) => figures.computedMs);
  const computed = restarts.map(({ figures }) => figures.cpuSeconds);
  const theirs = restarts.map(({ apiServerSeconds }) => apiServerSeconds);
  const rounded = (all: readonly number[]) => all.map((one) => one.toFixed(1)).join(", ");
  const say = (all: readonly Quantiles[]) =>
    all.map(({ p50, p99, longest }) => `${p50.toFixed(1)}/${p99.toFixed(1)}/${longest.toFixed(0)}`).join(", ");
  return [
    {
      ...{ what: "from the start of the process to converged, the slowest", unit: "s", limit: 15 },
      figure: Math.max(...seconds),
      detail: `${rounded(seconds)} s, in which the operator computed ${rounded(computed)} s and the API server ${rounded(theirs)} s`,
    },
    {
      ...{ what: "writes until then and in the calm time after it, the most", unit: "", limit: 0 },
      figure: Math.max(...writes.map((one) => Object.values(one).reduce((sum, count) => sum + count, 0))),
      detail: JSON.stringify(writes),
    },
    {
      ...{ what: "event-loop delay, p99, the worst of starts and calm times", unit: "ms", limit: 20 },
      figure: Math.max(...[...delays, ...calm].map(({ p99 }) => p99)),
      detail: `p50/p99/longest while it starts ${say(delays)} ms, of which it computed ${say(turns)} ms; then ${say(calm)} ms`,
    },
  ];
}

function memoryVerdict(
  restarts: readonly Restart[],
  empty: Figures & { readonly environments: number },
  { environments }: CrowdSizes,
): Verdict {
  const growthKib = ({ calm }: Restart) => ((calm.rssMib - empty.rssMib) * 1024) / (environments - empty.environments);
  return {
    ...{ what: "RSS growth an environment, the most", unit: "KiB", limit: 16 },
    figure: Math.max(...restarts.map(growthKib)),
    detail: `with ${empty.environments} environments ${memory(empty)}; with ${environments} ${restarts.map(({ calm }) => memory(calm)).join(", ")}`,
  };
}

function expiryVerdict(lateMs: readonly number[], plainMs: readonly number[]): Verdict {
  const say = (ms: readonly number[]) =>
    `p50 ${quantile(ms, 0.5).toFixed(0)} ms, p99 ${quantile(ms, 0.99).toFixed(0)} ms, longest ${Math.max(...ms).toFixed(0)} ms`;
  const ratio = quantile(lateMs, 0.99) / quantile(plainMs, 0.99);
  return {
    ...{ what: "expiry after the moment it was due, p99", unit: "s", limit: 2 },
    figure: quantile(lateMs, 0.99) / 1000,
    detail: `${say(lateMs)}, n=${lateMs.length}; a plain client deletes ${plainMs.length} at once in ${say(plainMs)}: ${ratio.toFixed(2)}× its p99`,
  };
}

const memory = ({ rssMib, peakMib, heapMib }: Figures) =>
  `RSS ${rssMib.toFixed(0)} MiB (at most ${peakMib.toFixed(0)}), heap ${heapMib.toFixed(0)} MiB`;

const progress = (text: string) => process.stderr.write(`crowd: ${text}\n`);

const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
