import { type ApiToken, endedAt, isValueOwner, TOKEN_VARIABLE, valueOwner } from "../../../crds/api-token.ts";
import { DAY_MS } from "../../../crds/durations.ts";
import type { Owner } from "../../ports/cluster.ts";
import type { CollectionDependencies } from "./dependencies.ts";
import { earlierOfClocks } from "./old-records.ts";
import { type BlockedSweep, sweepBudget } from "./sweep-budget.ts";

/** A value without a token, and the time of its discovery, on the monotonic clock. */
interface Candidate {
  readonly owner: Owner;
  readonly sinceMs: number;
  /** True when the watch has seen the token's deletion. */
  readonly isSeen: boolean;
}

/**
 * Deletes the values of deleted API tokens, which are useless. Those deleted while no operator watched are found in the
 * secret manager, and wait for the grace period.
 */
export function createOrphanedValues(
  context: CollectionDependencies<
    "log" | "clock" | "events" | "isKnown" | "livingTokens" | "settings" | "secretManager"
  >,
) {
  const { settings, secretManager, clock, log } = context;
  const exceedsBudget = sweepBudget(context, BLOCKED);
  const candidates = new Map<string, Candidate>();

  function note(owner: Owner, isSeen: boolean): void {
    const candidate = candidates.get(owner.uid) ?? { owner, sinceMs: clock.monotonicMs(), isSeen };
    candidates.set(owner.uid, { ...candidate, isSeen: isSeen || candidate.isSeen });
  }

  const isOld = ({ sinceMs }: Candidate) => clock.monotonicMs() - sinceMs >= settings.sweep.graceSeconds * 1_000;

  /** The secret manager's list may be outdated: an observed deletion stays noted for the grace period. */
  async function noteHeld(): Promise<void> {
    const owners = (await secretManager.owners(context.isKnown)).filter(isValueOwner);
    const listed = new Set(owners.map(({ uid }) => uid));
    for (const { uid, name } of owners) note({ uid, name }, false);
    for (const [uid, candidate] of candidates) {
      if (!listed.has(uid) && (!candidate.isSeen || isOld(candidate))) candidates.delete(uid);
    }
  }

  /** A lost or restored etcd also returns no tokens: then even observed deletions wait for the grace period. */
  function due(living: number): Candidate[] {
    return [...candidates.values()].filter((candidate) =>
      living > 0 ? candidate.isSeen || isOld(candidate) : candidate.isSeen && isOld(candidate),
    );
  }

  return {
    /** Notes an observed deletion: while other tokens exist, the value needs no grace period. */
    deleted: (token: ApiToken) => note(valueOwner(token), true),
    /**
     * Deletes values without a token. The watch and the secret manager suggest them; a fresh read of the tokens
     * confirms them, and an error ends the sweep before any deletion.
     */
    async sweep(signal: AbortSignal): Promise<void> {
      await noteHeld();
      if (candidates.size === 0) return;
      const living = await context.livingTokens();
      for (const uid of living) candidates.delete(uid);
      if (exceedsBudget(candidates.size, living.length)) return;
      for (const { owner } of due(living.length)) {
        signal.throwIfAborted();
        await secretManager.remove(owner, [TOKEN_VARIABLE]);
        candidates.delete(owner.uid);
        log.info("the value of a deleted API token was removed", { owner: owner.name, uid: owner.uid });
      }
    },
  };
}

const BLOCKED: BlockedSweep = {
  line: "too many values of deleted API tokens to be plausible: none is removed",
  reason: "TokenValuesBlocked",
  message: ({ orphans, living, most }) =>
    `${orphans} deleted API tokens have left values, beside ${living} API tokens that exist: more than ${most} is not plausible, and none is removed`,
  remedy: "remove them from the secret manager",
};

/** Time for which a revoked or expired token stays listed. */
const LISTED_MS = 30 * DAY_MS;

/**
 * Deletes API tokens that ended long ago, and values that must no longer be shown: those of ended tokens, which a
 * revocation may have left, and all of them when the settings keep none.
 *
 * The value is deleted before its token, which is its only trace.
 */
export function deleteExpiredTokens(
  context: CollectionDependencies<"settings" | "log" | "clock" | "serverClock" | "apiTokens" | "secretManager">,
) {
  // Once per process is enough: a value is never written again.
  const cleared = new Set<string>();

  async function clear(token: ApiToken): Promise<void> {
    if (!token.spec.keepsValue || cleared.has(token.metadata.uid)) return;
    await context.secretManager.remove(valueOwner(token), [TOKEN_VARIABLE]);
    cleared.add(token.metadata.uid);
  }

  async function collect(token: ApiToken, now: Date): Promise<boolean> {
    const ended = endedAt(token, now);
    if (ended !== undefined || !context.settings.api.tokens.revealable) await clear(token);
    if (ended === undefined || now.getTime() - ended.getTime() < LISTED_MS) return false;
    await context.apiTokens.remove(token);
    cleared.delete(token.metadata.uid);
    return true;
  }

  return async (signal: AbortSignal): Promise<void> => {
    const tokens = context.apiTokens.list();
    if (tokens.length === 0) return;
    const now = await earlierOfClocks(context);
    const results: PromiseSettledResult<boolean>[] = [];
    for (const token of tokens) {
      signal.throwIfAborted();
      // An error of one token does not affect the others.
      results.push(...(await Promise.allSettled([collect(token, now)])));
    }
    const dropped = results.filter((result) => result.status === "fulfilled" && result.value).length;
    if (dropped > 0) context.log.info("ended API tokens were dropped", { dropped });
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  };
}
