import type { Settings } from "../../config/settings.ts";
import { type ApiToken, isValueOwner, TOKEN_VARIABLE, valueOwner } from "../../crds/api-token.ts";
import { mostAtOnce } from "../environment/expiration/deletion-budget.ts";
import type { ObjectCache } from "../kit/cache/object-cache.ts";
import type { OwnDeletions } from "../kit/client/own-deletions.ts";
import type { Log } from "../kit/log.ts";
import type { Clock } from "../kit/time/clock.ts";
import { hourly } from "../kit/time/hourly.ts";
import type { Owner } from "../ports/cluster.ts";
import type { EventRecorder } from "../ports/event-recorder.ts";
import type { Inventory } from "../ports/inventory.ts";
import type { SecretManager } from "../ports/secret-manager.ts";

export interface OrphanedValuesContext extends Pick<Inventory, "isKnown" | "livingTokens"> {
  readonly settings: Pick<Settings, "sweep">;
  readonly secretManager: Pick<SecretManager, "owners" | "remove">;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventRecorder;
}

/** Removes the values of API tokens that somebody deleted: nobody can be shown them, and they are good for nothing. */
export interface OrphanedValues {
  /** Notes a token that the watch has seen go, for the next sweep: beside living tokens its value needs no grace. */
  deleted(token: ApiToken): void;
  /**
   * Removes the values whose tokens are gone. The watch and the secret manager only name candidates: that a token is gone
   * is asked of the API server, and an error ends the sweep before anything is touched.
   */
  sweep(signal: AbortSignal): Promise<void>;
}

/** A value whose token is gone, and since when that is known, on the monotonic clock. */
interface Orphan {
  readonly owner: Owner;
  readonly sinceMs: number;
  /** Whether the watch has seen its token go. */
  readonly isSeen: boolean;
}

/** What was deleted while nobody watched is found by what the secret manager holds, and goes after the sweep's grace. */
export function createOrphanedValues(context: OrphanedValuesContext): OrphanedValues {
  const { settings, secretManager, clock, log } = context;
  const tellHeld = heldTeller(context);
  const orphans = new Map<string, Orphan>();

  function note(owner: Owner, isSeen: boolean): void {
    const known = orphans.get(owner.uid) ?? { owner, sinceMs: clock.monotonicMs(), isSeen };
    orphans.set(owner.uid, { ...known, isSeen: isSeen || known.isSeen });
  }

  /** A list may lag behind what there is: what the watch has seen go stays noted whatever it shows. */
  async function noteHeld(): Promise<void> {
    const held = (await secretManager.owners(context.isKnown)).filter(isValueOwner);
    const there = new Set(held.map(({ uid }) => uid));
    for (const { uid, name } of held) note({ uid, name }, false);
    for (const [uid, { isSeen }] of orphans) if (!isSeen && !there.has(uid)) orphans.delete(uid);
  }

  /** No token at all is what a lost or restored store answers, too: then even what the watch saw go waits for the grace. */
  function due(living: number): Orphan[] {
    const isDue = ({ sinceMs }: Orphan) => clock.monotonicMs() - sinceMs >= settings.sweep.graceSeconds * 1_000;
    return [...orphans.values()].filter((orphan) =>
      living > 0 ? orphan.isSeen || isDue(orphan) : orphan.isSeen && isDue(orphan),
    );
  }

  return {
    deleted: (token) => note(valueOwner(token), true),
    async sweep(signal) {
      await noteHeld();
      if (orphans.size === 0) return;
      const living = await context.livingTokens();
      for (const uid of living) orphans.delete(uid);
      const most = living.length === 0 ? 1 : mostAtOnce(settings.sweep.breaker, living.length);
      if (tellHeld({ orphans: orphans.size, living: living.length, most })) return;
      for (const { owner } of due(living.length)) {
        signal.throwIfAborted();
        await secretManager.remove(owner, [TOKEN_VARIABLE]);
        orphans.delete(owner.uid);
        log.info("the value of a deleted API token was removed", { owner: owner.name, uid: owner.uid });
      }
    },
  };
}

/** Has the value go of every token that somebody deletes from now on, at once; returns the end of it. */
export function removeOnDeletion(
  cache: ObjectCache<ApiToken>,
  removals: OwnDeletions,
  wake: (deleted: ApiToken) => void,
): () => void {
  return cache.subscribe((_key, current, previous) => {
    const isGone = previous !== undefined && current?.metadata.uid !== previous.metadata.uid;
    // What this process drops has lost its value before, or never had one that was answered: the sweep finds the rest.
    if (isGone && previous.spec.keepsValue && !removals.has(previous.metadata.uid)) wake(previous);
  });
}

interface Excess {
  readonly orphans: number;
  readonly living: number;
  /** More than that are rather a sign that the list of tokens is wrong. */
  readonly most: number;
}

/** Whether there are too many to be plausible: that is told, once an hour while it lasts. */
function heldTeller({ clock, log, events }: OrphanedValuesContext): (excess: Excess) => boolean {
  const telling = hourly(clock);
  return (excess) => {
    if (excess.orphans <= excess.most) {
      telling.reset();
      return false;
    }
    if (!telling.isDue()) return true;
    const remedy = "remove them from the secret manager, or raise settings.sweep.breaker.atLeast";
    log.error("too many values of deleted API tokens to be plausible: none is removed", { ...excess, remedy });
    events.publish({
      type: "Warning",
      reason: "TokenSweepHeld",
      message: `there are values of ${excess.orphans} API tokens that are no more, beside ${excess.living} that are: more than ${excess.most} is not plausible, and none is removed: ${remedy}`,
    });
    return true;
  };
}
