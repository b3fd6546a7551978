/** Meaning of a pull request's state for an existing environment. */
import { DELETE_ACTIONS, type PullRequestRules } from "../../../crds/repository/webhook-rules.schema.ts";
import type { PullRequestState } from "../../../crds/webhooks/webhook-event.schema.ts";

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
