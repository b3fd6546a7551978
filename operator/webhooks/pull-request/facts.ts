import type { EnvironmentRecord } from "../../../crds/environment/environment-record.ts";
import type { Repository } from "../../../crds/repository/repository.ts";
import type { PullRequestRules } from "../../../crds/repository/webhook-rules.schema.ts";
import type { WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import type { PullRequestAction, PullRequestState } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { DecisionContext } from "../decision.ts";
import type { KnownState } from "./newest-state.ts";

/** Input of the rules about a pull request. */
export interface PullRequestFacts {
  readonly repository: Repository;
  readonly rules: PullRequestRules;
  /** Action of the current event: it decides only about a creation. */
  readonly action: PullRequestAction | "approval";
  /** Newest known state, which decides everything else. */
  readonly state: PullRequestState;
  readonly states: readonly KnownState[];
  /** All stored deliveries about the pull request, with its pipelines' reports. */
  readonly deliveries: readonly WebhookDelivery[];
  /** Commits that a maintainer approved, for pull requests of forks. */
  readonly approved: ReadonlySet<string>;
  readonly former: FormerEnvironment | undefined;
  readonly context: Pick<DecisionContext, "settings" | "environments" | "repositories" | "deliveries">;
}

/** An earlier environment of the pull request. */
export interface FormerEnvironment {
  readonly record: EnvironmentRecord;
  /** True when an event of the pull request deleted it, by its delivery. */
  readonly isDeletedByEvent: boolean;
}
