import { setTimeout as pause } from "node:timers/promises";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import type { Delays } from "../event-loop.ts";
import { type IdleServer, startIdleServer } from "../idle.ts";
import { median } from "../table.ts";
import type { Verdict } from "../verdict.ts";
import { apiServerCpuSeconds } from "./api-server-cpu.ts";
import type { BenchWorld } from "./bench-world.ts";
import type { Figures } from "./measured-operator.ts";
import { type ReadLists, readListsOf } from "./plain-lists.ts";

export interface RestartSizes {
  /** Starts of the operator, in turn with a client that only reads. */
  readonly restarts: number;
  /** A time after every start with recurring work only. */
  readonly calmMs: number;
}

const DEADLINE_MS = 300_000;

/**
 * An operator on the environments before the crowd. They must be some hundreds: a process grows by V8's young generation once,
 * which would count as memory of the crowd.
 */
export interface Before {
  readonly figures: Figures;
  readonly environments: number;
}

export async function measureBefore(bench: BenchWorld, { calmMs }: RestartSizes): Promise<Before> {
  const { items } = await bench.world.admin.list(environmentType, { metadataOnly: true });
  const operator = bench.startOperator();
  await operator.converged(DEADLINE_MS);
  await pause(calmMs);
  const figures = await operator.figures();
  await operator.stop();
  return { figures, environments: items.length };
}

/** The costs of a start on all objects, beside a plain client that reads and decodes the same lists. */
export async function measureRestarts(bench: BenchWorld, before: Before, sizes: RestartSizes): Promise<Verdict[]> {
  const idle = await startIdleServer();
  try {
    // The plain client reads the same lists.
    const { calm: first } = await restart(bench, idle, sizes);
    const restarts: Restart[] = [];
    const reads: Read[] = [];
    const turns = [
      async () => void restarts.push(await restart(bench, idle, sizes)),
      async () => void reads.push(await read(bench, first.lists)),
    ];
    for (let round = 0; round < sizes.restarts; round += 1) {
      for (const take of round % 2 === 0 ? turns : turns.toReversed()) await take();
    }
    const { items } = await bench.world.admin.list(environmentType, { metadataOnly: true });
    return [
      ...startVerdicts(restarts, reads),
      writesVerdict(restarts),
      ...delayVerdicts(restarts),
      memoryVerdict(restarts, before, { environments: items.length, bytes: (reads[0] as Read).bytes }),
    ];
  } finally {
    await idle.stop();
  }
}

interface Turn {
  /** From the start of the process on. */
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly apiServerSeconds: number;
}

interface Restart extends Turn {
  readonly figures: Figures;
  readonly calm: Figures;
  /** Delays of an idle process at the same time: during the operator's start, and in the calm time. */
  readonly idle: { readonly starting: Delays; readonly calm: Delays };
}

interface Read extends Turn, ReadLists {}

async function restart(bench: BenchWorld, idle: IdleServer, { calmMs }: RestartSizes): Promise<Restart> {
  const before = await apiServerCpuSeconds(bench.world.admin);
  await idle.restartDelays();
  const operator = bench.startOperator();
  const figures = await operator.converged(DEADLINE_MS);
  const starting = await idle.delays();
  const seconds = (figures.convergedAtMs - operator.startedAtMs) / 1000;
  const apiServerSeconds = (await apiServerCpuSeconds(bench.world.admin)) - before;
  const { cpuSeconds } = figures;
  progress(`converged after ${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of CPU; ${memory(figures)}`);
  await Promise.all([operator.restartDelays(), idle.restartDelays()]);
  await pause(calmMs);
  const calm = await operator.figures();
  const idleCalm = await idle.delays();
  await operator.stop();
  return { seconds, cpuSeconds, apiServerSeconds, figures, calm, idle: { starting, calm: idleCalm } };
}

async function read(bench: BenchWorld, paths: readonly string[]): Promise<Read> {
  const { world } = bench;
  const before = await apiServerCpuSeconds(world.admin);
  const done = await readListsOf(bench, paths);
  const apiServerSeconds = (await apiServerCpuSeconds(world.admin)) - before;
  progress(`${done.objects} objects read in ${done.seconds.toFixed(1)} s, ${done.cpuSeconds.toFixed(1)} s of CPU`);
  return { ...done, apiServerSeconds };
}

function startVerdicts(restarts: readonly Turn[], reads: readonly Turn[]): Verdict[] {
  const say = (turns: readonly Turn[], of: keyof Turn) => turns.map((turn) => turn[of].toFixed(1)).join(", ");
  const ratio = (of: keyof Turn) => median(restarts.map((turn) => turn[of])) / median(reads.map((turn) => turn[of]));
  const beside = (of: keyof Turn) => `operator ${say(restarts, of)} s; plain client ${say(reads, of)} s`;
  const apiServer = `; the API server computed for the operator ${say(restarts, "apiServerSeconds")} s, for the plain client ${say(reads, "apiServerSeconds")} s`;
  return [
    {
      what: "restart: processor time, beside reading and decoding the same lists",
      unit: "×",
      limit: 4.2,
      figure: ratio("cpuSeconds"),
      detail: beside("cpuSeconds") + apiServer,
    },
    {
      what: "restart: time to converged, beside reading and decoding the same lists",
      unit: "×",
      limit: 2.4,
      figure: ratio("seconds"),
      detail: beside("seconds"),
    },
  ];
}

function writesVerdict(restarts: readonly Restart[]): Verdict {
  const writes = restarts.map(({ calm }) => calm.writes);
  return {
    what: "restart: writes until then and in the calm time after it, the most",
    unit: "",
    limit: 0,
    figure: Math.max(...writes.map((one) => Object.values(one).reduce((sum, count) => sum + count, 0))),
    detail: JSON.stringify(writes),
  };
}

function delayVerdicts(restarts: readonly Restart[]): Verdict[] {
  const starting = restarts.map(({ figures, idle }) => [figures.delays, idle.starting] as const);
  const calm = restarts.map((restart) => [restart.calm.delays, restart.idle.calm] as const);
  const verdict = (what: string, pairs: typeof starting, limit: number): Verdict => {
    const ratio = median(pairs.map(([own]) => own.p99)) / median(pairs.map(([, idle]) => idle.p99));
    const [own, idle] = [0, 1].map((at) => pairs.map((pair) => sayDelays(pair[at] as Delays)).join(", "));
    const detail = `p50/p99/longest of the operator ${own} ms; of a process that does nothing ${idle} ms`;
    return { what, figure: ratio, limit, unit: "×", detail };
  };
  return [
    verdict("restart: event-loop delay at p99 until converged, beside an idle process", starting, 4.5),
    verdict("restart: event-loop delay at p99 in calm times, beside an idle process", calm, 2),
  ];
}

const sayDelays = ({ p50, p99, longest }: Delays) => `${p50.toFixed(1)}/${p99.toFixed(1)}/${longest.toFixed(0)}`;

function memoryVerdict(
  restarts: readonly Restart[],
  before: Before,
  now: { readonly environments: number; readonly bytes: number },
): Verdict {
  const growthKib = median(restarts.map(({ calm }) => (calm.rssMib - before.figures.rssMib) * 1024));
  const eachKib = growthKib / (now.environments - before.environments);
  const wireKib = now.bytes / 1024 / now.environments;
  const said = restarts.map(({ calm }) => memory(calm)).join(", ");
  return {
    what: "RSS growth an environment, beside its bytes in the lists",
    unit: "×",
    limit: 0.6,
    figure: eachKib / wireKib,
    detail: `${eachKib.toFixed(1)} of ${wireKib.toFixed(1)} KiB; with ${before.environments} environments ${memory(before.figures)}; with ${now.environments} ${said}`,
  };
}

const memory = ({ rssMib, peakMib, heapMib }: Figures) =>
  `RSS ${rssMib.toFixed(0)} MiB (at most ${peakMib.toFixed(0)}), heap ${heapMib.toFixed(0)} MiB`;

const progress = (text: string) => process.stderr.write(`restart: ${text}\n`);
