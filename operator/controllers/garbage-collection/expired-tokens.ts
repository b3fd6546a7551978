import type { Settings } from "../../../config/settings.ts";
import { type ApiToken, endedAt, TOKEN_VARIABLE, valueOwner } from "../../../crds/api-token.ts";
import type { Log } from "../../kit/log.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { ApiTokens } from "../../ports/api-tokens.ts";
import type { ServerClock } from "../../ports/cluster.ts";
import type { SecretManager } from "../../ports/secret-manager.ts";
import { earlierOfClocks } from "./old-records.ts";

/** Time for which a revoked or expired token stays listed. */
const LISTED_MS = 30 * 86_400_000;

/** The settings and ports of the collection of API tokens. */
export interface ExpiredTokensDependencies {
  readonly settings: Pick<Settings, "api">;
  readonly log: Log;
  readonly clock: Clock;
  readonly serverClock: ServerClock;
  readonly apiTokens: Pick<ApiTokens, "list" | "remove">;
  readonly secretManager: Pick<SecretManager, "remove">;
}

/**
 * Deletes API tokens that ended long ago, and values that must no longer be shown: those of ended tokens, which a
 * revocation may have left, and all of them when the settings keep none.
 *
 * The value is deleted before its token, which is its only trace.
 */
export function deleteExpiredTokens(context: ExpiredTokensDependencies): (signal: AbortSignal) => Promise<void> {
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

  return async (signal) => {
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
