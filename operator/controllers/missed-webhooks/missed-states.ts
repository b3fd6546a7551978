import type { PullRequestRules } from "../../../crds/repository/webhook-rules.schema.ts";
import type { HostedPullRequest } from "../../ports/webhooks/pull-request-reader.ts";
import { differ } from "../../webhooks/pull-request/doubt.ts";
import type { KnownState } from "../../webhooks/pull-request/newest-state.ts";
import { isWanted } from "../../webhooks/pull-request/wanted.ts";

/** What a host answered about the pull requests of a Repository, and what is known of them. */
export interface Survey {
  readonly rules: PullRequestRules;
  /** The open ones, and those that were asked for one by one. Of what failed there is no answer. */
  readonly answers: readonly HostedPullRequest[];
  /** The newest known state of a pull request. */
  readonly known: (number: number) => KnownState | undefined;
  /** The numbers of the pull requests that have an environment. */
  readonly environments: ReadonlySet<number>;
  /** Those of them whose environment is protected: it stays, whatever becomes of its pull request. */
  readonly protectedOnes: ReadonlySet<number>;
  /** Pull requests that changed before get no environment by a survey. */
  readonly createsSince: Date;
}

/** The states that no webhook has told. */
export interface MissedStates {
  readonly states: readonly HostedPullRequest[];
  /** How many answers would have ended an environment and are not believed. */
  readonly implausible: number;
}

/**
 * More environments than these, when they are also more than half of the Repository's, don't end by one survey: a host that
 * lost its data, or was set up anew from an old copy, answers so. Such environments end by a webhook, by a user or by their
 * TTL.
 */
export const IMPLAUSIBLE_ENDS = { moreThan: 5, share: 0.5 } as const;

/**
 * The missed states: those that differ from the newest known one, and known ends whose environment is there. Only a definite
 * answer counts: a pull request that a list lacks, or that could not be asked for, has none, so it changes nothing. Nor does
 * an answer that is older than what is known.
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
