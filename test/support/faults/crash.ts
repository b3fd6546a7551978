import { expect } from "@jest/globals";
import type { World } from "../fixtures/environment-world.ts";
import { until } from "../fixtures/until.ts";
import { type CrashPoint, concernedAmong, killAt } from "./request-seams.ts";

/** Every write of the list, killed before it and killed after it, each with an environment of its own. */
export function crashPoints(writes: readonly string[], prefix: string): Map<string, CrashPoint> {
  const points = writes.flatMap((write) => (["before", "after"] as const).map((when) => ({ write, when })));
  return new Map(points.map((point, index) => [`${prefix}-${index}`, point]));
}

/** A status is written as often as something new is seen: which later one is the last differs from run to run. */
const LATER_STATUS = /^patch EphemeralEnvironment\/status NAME #([2-9]|\d\d)$/;

/** Operators that are to die, each environment's at its own moment. */
export interface Victims {
  readonly points: ReadonlyMap<string, CrashPoint>;
  readonly options?: Parameters<World["startOperator"]>[0];
  /** What sets it going, once the operator runs. */
  readonly act: () => Promise<unknown>;
  /** Whether an environment got to the end, past its moment. */
  readonly isThrough: (name: string) => Promise<boolean>;
}

/** Lets an operator die at every point; answers when nothing of it is on its way any more. */
export async function crash(world: World, { points, options, act, isThrough }: Victims): Promise<void> {
  const killer = killAt(points, concernedAmong(points.keys()));
  const victim = await world.startOperator({ ...options, onRequest: killer.seam });
  await act();
  const everybodyDied = async () =>
    killer.isIdle && (await Promise.all(killer.pending.map(isThrough))).every((through) => through);
  await until(everybodyDied, { what: "every crash", deadlineMs: 60_000 });
  killer.killAll();
  await victim.abandon();
  const missed = killer.pending.map((name) => points.get(name)?.write ?? "");
  expect(missed.filter((write) => !LATER_STATUS.test(write))).toEqual([]);
}
