import { randomUUID } from "node:crypto";
import { MINUTE_MS } from "../../../../../crds/durations.ts";
import { createSweep } from "../../../../../operator/controllers/garbage-collection/orphans.ts";
import { namespaceKind } from "../../../../../operator/kit/client/kinds.ts";
import type { Owner } from "../../../../../operator/ports/cluster.ts";
import { memoryRemoval, namespaceOf } from "../../../../support/doubles/memory/removal.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";

/** Grace period of an orphan after its first sight. */
export const GRACE_MINUTES = 10;

/** Deleted environments. */
export const owners = (count: number, name = "gone") =>
  Array.from({ length: count }, (_, at): Owner => ({ name: `${name}-${at}`, uid: randomUUID() }));

/** A world for sweeps, an hour after the creation and the loss of these environments. */
export async function scene(gone: readonly Owner[], { living = 100 } = {}) {
  const clock = new TestClock();
  const removal = memoryRemoval(clock);
  for (const owner of gone) await removal.furnish(owner);
  clock.advance(60 * MINUTE_MS);
  const world = {
    ...removal,
    known: new Set<string>(),
    living: Array.from({ length: living }, () => randomUUID()) as string[],
    tokens: [] as string[],
    failure: undefined as Error | undefined,
  };
  const sweep = createSweep({
    ...removal,
    belongings: () => removal.cluster.list(),
    isKnown: (uid) => world.known.has(uid),
    async livingUids() {
      if (world.failure) throw world.failure;
      return { environments: world.living, tokens: world.tokens };
    },
  });
  return Object.assign(world, {
    sweep: () => sweep(new AbortController().signal),
    async sweepLater(minutes = GRACE_MINUTES, signal = new AbortController().signal) {
      clock.advance(minutes * MINUTE_MS);
      return sweep(signal);
    },
    hold: (owner: Owner, ...finalizers: string[]) =>
      removal.cluster.hold(namespaceKind, namespaceOf(owner), finalizers),
    /** The reasons of the Events. */
    said: () => removal.events.list().map(({ reason }) => reason),
    /** The messages with that reason. */
    words: (reason: string) =>
      removal.events
        .list()
        .filter((notice) => notice.reason === reason)
        .map(({ message }) => message),
    /** The number of these with a remaining object. */
    async remaining(some: readonly Owner[] = gone) {
      const left = await Promise.all(some.map((owner) => removal.left(owner)));
      return left.filter((parts) => parts.length > 0).length;
    },
  });
}
export const nothing = { orphans: 0, removing: 0, stuck: 0, removed: 0, isBlocked: false };
