import type { PullRequestRules } from "../../../crds/repository/webhook-rules.schema.ts";
import type { HostedPullRequest } from "../../ports/webhooks/pull-request-reader.ts";
import type { KnownState } from "../../webhooks/pull-request/newest-state.ts";
import { differ } from "../../webhooks/pull-request/stale-state.ts";
import { isWanted } from "../../webhooks/pull-request/wanted.ts";

/** A host's pull requests of a Repository, with the known states. */
export interface Survey {
  readonly rules: PullRequestRules;
  /** Open ones, and those fetched singly. Failed fetches are missing. */
  readonly answers: readonly HostedPullRequest[];
  readonly known: (number: number) => KnownState | undefined;
  readonly environments: ReadonlySet<number>;
  /** Numbers with a protected environment, which stays in any case. */
  readonly protectedOnes: ReadonlySet<number>;
  /** Pull requests without a change since get no environment from a survey. */
  readonly createsSince: Date;
}

/** States that no webhook has reported. */
export interface MissedStates {
  readonly states: readonly HostedPullRequest[];
  /** Count of disbelieved answers that would have ended environments. */
  readonly implausible: number;
}

/**
 * Limit on environments that one survey may end, if more than half of the Repository's: a host restored from an old
 * copy answers so. Such environments end by a webhook, a user or their TTL.
 */
export const IMPLAUSIBLE_ENDS = { moreThan: 5, share: 0.5 } as const;

/**
 * Missed states: those that differ from the newest known one, and known ends with an existing environment. Only
 * definite, newer answers count: a pull request missing in a list or not fetched changes nothing.
 */
export function missedStates(survey: Survey): MissedStates {
  const { answers, environments, rules } = survey;
  const byNumber = new Map(answers.map((answer) => [answer.number, answer]));
  const missed = [...byNumber.values()].filter((answer) => isMissed(answer, survey));
  const isEnd = (answer: HostedPullRequest) => environments.has(answer.number) && !isWanted(answer, rules);
  const ends = missed.filter(isEnd).length;
  const isPlausible = ends <= Math.max(IMPLAUSIBLE_ENDS.moreThan, environments.size * IMPLAUSIBLE_ENDS.share);
  if (isPlausible) return { states: missed, implausible: 0 };
  return { states: missed.filter((answer) => !isEnd(answer)), implausible: ends };
}

function isMissed(answer: HostedPullRequest, survey: Survey): boolean {
  const { rules, known, environments, protectedOnes, createsSince } = survey;
  const former = known(answer.number);
  const atMs = answer.updatedAt === undefined ? undefined : Date.parse(answer.updatedAt);
  if (former !== undefined && atMs !== undefined && atMs < former.atMs) return false;
  if (former !== undefined && !differ(former.state, answer, rules)) {
    const isLeft = environments.has(answer.number) && !protectedOnes.has(answer.number);
    return answer.state === "closed" && isLeft && !isWanted(answer, rules);
  }
  if (environments.has(answer.number)) return true;
  return answer.state === "open" && atMs !== undefined && atMs >= createsSince.getTime();
}
