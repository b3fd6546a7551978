/** What a state of a pull request means for an environment that exists. */
import { DELETE_ACTIONS, type PullRequestRules } from "../../../crds/repository/webhook-rules.schema.ts";
import type { PullRequestState } from "../../../crds/webhooks/webhook-event.schema.ts";

/** What is read of a state. */
type Judged = Pick<PullRequestState, "state" | "merged" | "draft" | "labels">;

/** Whether an environment of a pull request in this state stays. */
export function isWanted(state: Judged, rules: PullRequestRules): boolean {
  if (state.state === "closed") return !endsEnvironment(state, rules);
  return !isSkippedDraft(state, rules) && missingLabels(state, rules).length === 0;
}

/** Whether the end of a closed pull request is one of those that delete its environment (`delete_on`). */
export function endsEnvironment({ merged }: Pick<Judged, "merged">, { deleteOn }: PullRequestRules): boolean {
  const ends: readonly string[] = deleteOn ?? DELETE_ACTIONS;
  return ends.includes(merged ? "merged" : "closed");
}

export function isSkippedDraft({ draft }: Pick<Judged, "draft">, { skipDraft }: PullRequestRules): boolean {
  return draft && skipDraft === true;
}

/** The required labels that the pull request lacks. */
export function missingLabels(
  { labels }: Pick<Judged, "labels">,
  { requiredLabels }: PullRequestRules,
): readonly string[] {
  return (requiredLabels ?? []).filter((label) => !labels.includes(label));
}
