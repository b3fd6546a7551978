import { pause, systemClock } from "../../../operator/kit/time/clock.ts";
import type { BenchWorld } from "./bench-world.ts";
import { type MeasuredOperator, writesOf } from "./measured-operator.ts";

/**
 * A shared machine's speed changes within seconds, so that phases of seconds would differ by more than what is measured. They are
 * of different lengths, because the operator does some work at regular intervals.
 */
const PHASE_MS = { least: 150, most: 350 };
/** True with metrics and Events: neither side is earlier than the other on average. */
const BLOCK = [true, false, false, true] as const;

/** A phase, and the operator's writes in it, without those of Events: they are written later than what they are about. */
export interface Phase {
  readonly ms: number;
  readonly writes: number;
}

/** The phases of each side, in order. */
export interface Alternation {
  readonly observed: readonly Phase[];
  readonly unobserved: readonly Phase[];
}

/** Switches metrics and Events on and off in quick alternation, while environments are made one after the other. */
export async function alternate(bench: BenchWorld, operator: MeasuredOperator, blocks: number): Promise<Alternation> {
  const over = new AbortController();
  const making = async () => {
    for (let count = 0; !over.signal.aborted; count += 1) {
      const name = `alternating-${count}`;
      await bench.create(name);
      await bench.ready.reached(name);
    }
  };
  // A failure of one ends the other.
  const ending = <T>(work: Promise<T>) => work.finally(() => over.abort());
  const [taken] = await Promise.all([ending(phases(operator, blocks, over.signal)), ending(making())]);
  const ofSide = (isObserved: boolean) => taken.filter((_, index) => BLOCK[index % BLOCK.length] === isObserved);
  return { observed: ofSide(true), unobserved: ofSide(false) };
}

async function phases(operator: MeasuredOperator, blocks: number, over: AbortSignal): Promise<readonly Phase[]> {
  const taken: Phase[] = [];
  const switched = async (phase: number) => {
    const figures = await operator.observe(BLOCK[phase % BLOCK.length] as boolean);
    return { atMs: performance.now(), writes: writesOf(figures).others };
  };
  let before = await switched(0);
  for (let phase = 1; phase <= blocks * BLOCK.length && !over.aborted; phase += 1) {
    const { least, most } = PHASE_MS;
    await pause(systemClock, least + (most - least) * Math.random(), over);
    const now = await switched(phase);
    taken.push({ ms: now.atMs - before.atMs, writes: now.writes - before.writes });
    before = now;
  }
  return taken;
}
