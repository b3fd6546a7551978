import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { configMapKind } from "../../../operator/kit/client/kinds.ts";
import { pause, systemClock } from "../../../operator/kit/time/clock.ts";
import { until } from "../../support/fixtures/until.ts";
import { median } from "../table.ts";
import type { Verdict } from "../verdict.ts";
import type { BenchWorld } from "./bench-world.ts";
import type { MeasuredOperator } from "./measured-operator.ts";
import { createPlainClient, type PlainClient } from "./plain-client.ts";
import { readListsOf } from "./plain-lists.ts";

export interface PrioritySizes {
  /** Starts of the operator on all objects, each followed by a read of the same lists. */
  readonly starts: number;
  /** Environments created one after the other in calm, after each start. */
  readonly calm: number;
}

const DEADLINE_MS = 300_000;
/** Pause between changes of existing environments, all the time. */
const CHANGE_EVERY_MS = 50;
/** From one new environment to the next, during starts and reads. The next one waits for the last one. */
const NEW_EVERY_MS = 2_000;

/** Number of calls that a new environment waits for one after the other, roughly. */
const PLAIN_WRITES = 10;

/**
 * The time of a new environment while the operator works on its initial list, beside the time without the list; and the time
 * of the list's last one, beside a plain client that reads and decodes the same lists. Other environments change all the
 * time, and new ones are made during the starts and, by another plain client, during the reads.
 *
 * After a complete read an API server is slow for everyone: it collects garbage, and on a small machine it shares the
 * processors with the operator. Each environment is therefore also measured as a multiple of preceding plain writes.
 */
export async function measurePriority(bench: BenchWorld, sizes: PrioritySizes): Promise<Verdict[]> {
  const crowd = await namesOf(bench);
  const pattern = await bench.world.admin.find(environmentType, { name: crowd[0] as string });
  const plain = await createPlainClient(bench, pattern as EphemeralEnvironment);
  const stopped = new AbortController();
  const changing = changeSteadily(bench, crowd, stopped.signal);
  const samples: Samples = { besideList: [], calm: [], startSeconds: [], readSeconds: [] };
  try {
    for (let start = 0; start < sizes.starts; start += 1) {
      const lists = await oneStart(bench, { start, calm: sizes.calm, samples });
      samples.readSeconds.push(await oneRead(bench, plain, { start, lists }));
    }
  } finally {
    stopped.abort();
    await Promise.all([changing, plain.stop()]);
  }
  return verdictsOf(samples);
}

interface Way {
  readonly environmentMs: number;
  readonly writesMs: number;
}

interface Samples {
  readonly besideList: Way[];
  readonly calm: Way[];
  /** Until the last of the list had been reconciled. */
  readonly startSeconds: number[];
  readonly readSeconds: number[];
}

interface Start {
  readonly start: number;
  readonly calm: number;
  readonly samples: Samples;
}

/** Answers the paths of the lists that the operator has read. */
async function oneStart(bench: BenchWorld, { start, calm, samples }: Start): Promise<readonly string[]> {
  const operator = bench.startOperator();
  const isAtWork = async () => (await operator.figures()).reconciles > 0;
  await until(isAtWork, { what: "the initial list being worked on", deadlineMs: DEADLINE_MS, everyMs: 20 });
  const beside: Way[] = [];
  const { convergedAtMs } = await whileMaking(operator.converged(DEADLINE_MS), async (index) => {
    const way = await wayToReady(bench, `listed-${start}-${index}`);
    // From here on it would be one without a list before it.
    if (!(await isThrough(operator))) beside.push(way);
  });
  samples.startSeconds.push((convergedAtMs - operator.startedAtMs) / 1000);
  samples.besideList.push(...beside);
  for (let index = 0; index < calm; index += 1)
    samples.calm.push(await wayToReady(bench, `unlisted-${start}-${index}`));
  const { lists } = await operator.figures();
  await operator.stop();
  process.stderr.write(`priority, start ${start + 1}: ${beside.length} environments beside the list\n`);
  return lists;
}

interface Read {
  readonly start: number;
  readonly lists: readonly string[];
}

/** The seconds of a plain client's read of these lists, while new environments are made as during a start. */
async function oneRead(bench: BenchWorld, plain: PlainClient, { start, lists }: Read): Promise<number> {
  const { seconds } = await whileMaking(readListsOf(bench, lists), async (index) => {
    const name = `read-${start}-${index}`;
    await plainWrites(bench, name);
    await plain.bringUp(await bench.create(name));
  });
  return seconds;
}

/** Makes one after the other, at most one in each interval, until the work is done; answers what the work does. */
async function whileMaking<T>(work: Promise<T>, make: (index: number) => Promise<void>): Promise<T> {
  const over = new AbortController();
  const making = async () => {
    for (let index = 0; !over.signal.aborted; index += 1)
      await Promise.all([make(index), pause(systemClock, NEW_EVERY_MS, over.signal)]);
  };
  const [result] = await Promise.all([work.finally(() => over.abort()), making()]);
  return result;
}

const isThrough = async (operator: MeasuredOperator) => (await operator.figures()).convergedAtMs !== undefined;

async function wayToReady(bench: BenchWorld, name: string): Promise<Way> {
  const writesMs = await plainWrites(bench, name);
  const began = performance.now();
  await bench.create(name);
  return { writesMs, environmentMs: (await bench.ready.reached(name, DEADLINE_MS)) - began };
}

/** Creations of small, otherwise unread objects, one after the other. */
async function plainWrites({ world }: BenchWorld, name: string): Promise<number> {
  const began = performance.now();
  for (let count = 0; count < PLAIN_WRITES; count += 1) {
    const metadata = { name: `${name}-${count}`, namespace: "default" };
    await world.admin.create(configMapKind, { metadata, data: { written: name } });
  }
  return performance.now() - began;
}

async function namesOf({ world }: BenchWorld): Promise<readonly string[]> {
  const { items } = await world.admin.list(environmentType, { metadataOnly: true });
  const living = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return living.map(({ metadata }) => metadata.name).filter((name) => name.startsWith("crowd-"));
}

/** Each change is one of the spec, which the operator observes in the status. */
async function changeSteadily(bench: BenchWorld, names: readonly string[], stopped: AbortSignal): Promise<void> {
  for (let count = 0; !stopped.aborted; count += 1) {
    const name = names[(count * 7919) % names.length] as string;
    const patch = { spec: { ttlHours: count % 2 === 0 ? 160 : 161 } };
    await bench.world.admin.patch(environmentType, { name }, patch, { as: "merge" });
    await pause(systemClock, CHANGE_EVERY_MS, stopped);
  }
}

function verdictsOf({ besideList, calm, startSeconds, readSeconds }: Samples): Verdict[] {
  const seconds = (samples: readonly number[]) => samples.map((one) => one.toFixed(1)).join(", ");
  return [
    {
      what: "priority: a new environment while the initial list waits, beside without it",
      limit: 2,
      unit: "×",
      figure: median(besideList.map(ms)) / median(calm.map(ms)),
      detail: `beside the list ${reported(besideList)}; without it ${reported(calm)}`,
    },
    {
      what: "priority: the same in times of plain writes just before",
      limit: 1.5,
      unit: "×",
      figure: inWrites(besideList) / inWrites(calm),
      detail: "as above",
    },
    {
      what: "priority: the last of the initial list, beside reading and decoding the same lists while as many are made",
      figure: median(startSeconds) / median(readSeconds),
      limit: 2.4,
      unit: "×",
      detail: `operator ${seconds(startSeconds)} s; plain client ${seconds(readSeconds)} s`,
    },
  ];
}

const ms = ({ environmentMs }: Way) => environmentMs;
const inWrites = (ways: readonly Way[]) => median(ways.map(({ environmentMs, writesMs }) => environmentMs / writesMs));

function reported(ways: readonly Way[]): string {
  const environments = ways.map(ms);
  const writes = ways.map(({ writesMs }) => writesMs);
  const p50 = (samples: readonly number[]) => `p50 ${median(samples).toFixed(0)} ms`;
  const longest = `longest ${Math.max(...environments).toFixed(0)} ms`;
  return `${p50(environments)}, ${longest}, ${PLAIN_WRITES} writes ${p50(writes)}, n=${ways.length}`;
}
