import { elapsedMs } from "../../kit/time/clock.ts";
import type { Removal } from "../../ports/cluster.ts";
import { PullRequestHostFailed } from "../../ports/pull-request-host.ts";
import { SecretManagerUnavailable } from "../../ports/secret-manager.ts";

/** The step that tells the host of a pull request that its environment is gone. */
export const FEEDBACK_STEP = "feedback";

/** @throws PullRequestHostFailed, SecretManagerUnavailable */
export type TellGone = (signal: AbortSignal) => Promise<void>;

/** An environment must not stay because its host is away. */
const GIVEN_UP_AFTER_MS = 120_000;
/** One try, so that a host that hangs holds no worker for long. */
const TRY_MS = 20_000;

/** One try; `left` says why no other one follows. */
export async function lastFeedback(
  tellGone: TellGone | undefined,
  { since, now, signal }: { since: string | undefined; now: Date; signal: AbortSignal },
): Promise<Removal | { readonly state: "gone"; readonly left: string }> {
  try {
    await tellGone?.(AbortSignal.any([signal, AbortSignal.timeout(TRY_MS)]));
    return { state: "gone" };
  } catch (error) {
    const isAway = error instanceof PullRequestHostFailed || error instanceof SecretManagerUnavailable;
    if (!isAway) throw error;
    const isGivenUp = since !== undefined && elapsedMs(new Date(since), now) >= GIVEN_UP_AFTER_MS;
    return isGivenUp ? { state: "gone", left: error.message } : { state: "removing", message: error.message };
  }
}
