import { elapsedMs } from "../../../kit/time/clock.ts";
import type { Removal } from "../../../ports/cluster.ts";
import { SecretManagerUnavailable } from "../../../ports/secret-manager.ts";
import { PullRequestHostFailed } from "../../../ports/webhooks/pull-request-host.ts";

/** Teardown step that reports the end to the host of a pull request. */
export const FEEDBACK_STEP = "feedback";

/** @throws PullRequestHostFailed, SecretManagerUnavailable */
export type ReportDeleted = (signal: AbortSignal) => Promise<void>;

/** An environment must not stay because its host is away. */
const GIVEN_UP_AFTER_MS = 120_000;
/** Limit of one attempt, so that a hanging host blocks no worker for long. */
const TRY_MS = 20_000;

/** One attempt; `left` says why no other follows. @throws errors other than the host's, until these are given up too */
export async function lastFeedback(
  reportDeleted: ReportDeleted | undefined,
  { since, now, signal }: { since: string | undefined; now: Date; signal: AbortSignal },
): Promise<Removal | { readonly state: "gone"; readonly left: string }> {
  const deadline = AbortSignal.timeout(TRY_MS);
  try {
    await reportDeleted?.(AbortSignal.any([signal, deadline]));
    return { state: "gone" };
  } catch (error) {
    signal.throwIfAborted();
    const message = deadline.aborted ? `the host was not told within ${TRY_MS / 1000} s` : messageOf(error);
    const isGivenUp = since !== undefined && elapsedMs(new Date(since), now) >= GIVEN_UP_AFTER_MS;
    if (isGivenUp) return { state: "gone", left: message ?? "the host could not be told" };
    if (message === undefined) throw error;
    return { state: "removing", message };
  }
}

/** Messages of other errors may hold secrets. */
function messageOf(error: unknown): string | undefined {
  const isKnown = error instanceof PullRequestHostFailed || error instanceof SecretManagerUnavailable;
  return isKnown ? error.message : undefined;
}
