import type { EnvironmentRecord } from "../../../crds/environment/environment-record.ts";
import type { Repository } from "../../../crds/repository/repository.ts";
import type { PullRequestRules } from "../../../crds/repository/webhook-rules.schema.ts";
import type { WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import type { PullRequestAction, PullRequestState } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { DecisionContext } from "../decision.ts";
import type { KnownState } from "./newest-state.ts";

/** What the rules read of a pull request and the world. */
export interface PullRequestFacts {
  readonly repository: Repository;
  readonly rules: PullRequestRules;
  /** What the event at hand reports: it says only whether an environment may be created. */
  readonly action: PullRequestAction | "approval";
  /** The newest known state, which decides everything else. */
  readonly state: PullRequestState;
  /** All known states, the newest last. */
  readonly states: readonly KnownState[];
  /** All stored deliveries about the pull request, with the reports of its pipelines. */
  readonly deliveries: readonly WebhookDelivery[];
  /** The commits that a maintainer approved, for pull requests of forks. */
  readonly approved: ReadonlySet<string>;
  /** The last environment of the pull request that is gone. */
  readonly former: FormerEnvironment | undefined;
  /** The settings, the environments that take places of the Repository, the other Repositories, and the reports of pipelines. */
  readonly context: Pick<DecisionContext, "settings" | "environments" | "repositories" | "deliveries">;
}

/** An environment that the pull request had. */
export interface FormerEnvironment {
  readonly record: EnvironmentRecord;
  /** Whether an event of the pull request deleted it, as its delivery says. */
  readonly isDeletedByEvent: boolean;
}
