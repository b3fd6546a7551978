import type { EphemeralEnvironment } from "../../crds/ephemeral-environment.ts";
import { deletableFrom, isExpired, reprieve } from "../../crds/lifetime.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import type { Environments } from "../ports/environments.ts";
import type { ServerClock } from "../ports/server-clock.ts";

export interface ExpiryContext {
  readonly clock: Clock;
  readonly serverClock: ServerClock;
  readonly environments: Environments;
  readonly log: Log;
}

/** `removing`: its time was up; `decide-again`: it changed meanwhile; else how long until the next look, if ever. */
export type Expiry = "removing" | "decide-again" | { readonly lookAgainInMs: number | undefined };

const DISAGREEMENT_RECHECK_MS = 60_000;

/**
 * Deletes an environment whose time is up, by both clocks, and only in the version that was judged.
 * Everything is computed from the resource; nothing is remembered between passes.
 */
export async function expire(environment: EphemeralEnvironment, context: ExpiryContext): Promise<Expiry> {
  const now = context.clock.now();
  // A TTL that was just lowered is granted its reprieve, stored by this pass, before it counts.
  if (reprieve(environment, now) !== undefined) return { lookAgainInMs: undefined };
  if (!isExpired(environment, now)) return { lookAgainInMs: untilDeletable(environment, now) };

  const serverNow = await context.serverClock.now();
  if (!isExpired(environment, serverNow)) {
    context.log.warn("clocks disagree on an expiry: nothing is deleted", {
      environment: environment.metadata.name,
      operatorTime: now.toISOString(),
      serverTime: serverNow.toISOString(),
    });
    return { lookAgainInMs: DISAGREEMENT_RECHECK_MS };
  }
  const outcome = await context.environments.remove(environment, { onlyThisVersion: true });
  if (outcome === "changed") return "decide-again";
  context.log.info("environment expired", { environment: environment.metadata.name });
  return "removing";
}

function untilDeletable(environment: EphemeralEnvironment, now: Date): number | undefined {
  const from = deletableFrom(environment);
  return from === undefined ? undefined : from.getTime() - now.getTime();
}
