/** Meaning of a pull request's state for an existing environment. */

import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { UNWANTED_ANNOTATION } from "../../../crds/group.ts";
import { hostedRepository } from "../../../crds/repository/repository.ts";
import {
  CREATE_ACTIONS,
  DELETE_ACTIONS,
  type PullRequestRules,
} from "../../../crds/repository/webhook-rules.schema.ts";
import type { RuleVerdict } from "../../../crds/webhooks/webhook-delivery.ts";
import type { PullRequestState } from "../../../crds/webhooks/webhook-event.schema.ts";
import { contextOf, unwantedReport, wantsOf } from "../../host-reports/desired-reports.ts";
import type { Decided } from "../decision.ts";
import type { PullRequestFacts } from "./rules.ts";

type Judged = Pick<PullRequestState, "state" | "merged" | "draft" | "labels">;

/** True when the environment of a pull request in this state stays. */
export function isWanted(state: Judged, rules: PullRequestRules): boolean {
  if (state.state === "closed") return !endsEnvironment(state, rules);
  return !isSkippedDraft(state, rules) && missingLabels(state, rules).length === 0;
}

/** True when this end of a pull request deletes its environment (`delete_on`). */
export function endsEnvironment({ merged }: Pick<Judged, "merged">, { deleteOn }: PullRequestRules): boolean {
  const ends: readonly string[] = deleteOn ?? DELETE_ACTIONS;
  return ends.includes(merged ? "merged" : "closed");
}

export function isSkippedDraft({ draft }: Pick<Judged, "draft">, { skipDraft }: PullRequestRules): boolean {
  return draft && skipDraft === true;
}

export function missingLabels(
  { labels }: Pick<Judged, "labels">,
  { requiredLabels }: PullRequestRules,
): readonly string[] {
  return (requiredLabels ?? []).filter((label) => !labels.includes(label));
}

/**
 * Status of a pull request whose rules want no environment: docs/adr/0283-success-where-no-environment-is-wanted.md.
 */

const WISHES: readonly string[] = ["skip_draft", "required_labels", "branch_pattern", "base_pattern"];
/** A violation of these excludes the Repository from all pull requests. */
const TAKES_PART: readonly string[] = ["enabled", "allowed_organizations", "allowed_repositories"];

/**
 * Decision to report a success when a rule of the Repository wants no environment; `undefined` when it requests no such
 * status, without a token of the host, or when something else prevents an environment: an approval, a limit, a user's
 * deletion.
 *
 * @param trace verdicts of all rules for a creation
 */
export function unwantedStatus(facts: PullRequestFacts, trace: readonly RuleVerdict[]): Decided | undefined {
  const { repository, state, context } = facts;
  const rule = wantsOf(repository).successWithoutEnvironment ? unwantedBy(facts, trace) : undefined;
  const hosted = hostedRepository(repository, context.settings);
  if (rule === undefined || hosted === undefined) return undefined;
  const told = { ...unwantedReport(rule), commit: state.headCommit };
  const report = { ...told, context: contextOf({ name: repository.metadata.name }) };
  return { decision: { do: "report", repository: hosted, report, reason: "Unwanted" }, trace };
}

/** Message of the rule that wants no environment, if any. */
function unwantedBy({ rules, state, action }: PullRequestFacts, trace: readonly RuleVerdict[]): string | undefined {
  const broken = trace.filter(({ passed }) => !passed);
  if (broken.some(({ rule }) => TAKES_PART.includes(rule))) return undefined;
  const isDeniedFork = state.isFork && rules.forks !== "approve";
  const unwished = broken.find(({ rule }) => WISHES.includes(rule) || (rule === "forks" && isDeniedFork));
  if (unwished !== undefined) return unwished.message;
  // An unrelated action, such as a new title, changes no wish.
  const isChoice = broken.length === 1 && CREATE_ACTIONS.some((one) => one === action);
  return broken.find(({ rule }) => isChoice && rule === "create_on")?.message;
}

/** Annotations for a deletion whose end is reported as a success; see `conclude`. */
export function unwantedAnnotation({ repository }: PullRequestFacts, rule: string): Record<string, string> {
  return wantsOf(repository).successWithoutEnvironment ? { [UNWANTED_ANNOTATION]: rule } : {};
}

/** Removes the annotation after a deletion that did not happen. */
export function wantedAgain({ metadata }: EphemeralEnvironment): Record<string, null> {
  return metadata.annotations?.[UNWANTED_ANNOTATION] === undefined ? {} : { [UNWANTED_ANNOTATION]: null };
}
