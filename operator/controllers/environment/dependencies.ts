import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import type { Announcer } from "../../announcements/announcer.ts";
import type { Log } from "../../kit/log.ts";
import type { Activity } from "../../ports/activity.ts";
import type { ServerClock } from "../../ports/cluster.ts";
import type { EnvironmentStatusWriter, OperatorEnvironments } from "../../ports/environments.ts";
import type { EventRecorder } from "../../ports/event-recorder.ts";
import type { NamespaceContents } from "../../ports/namespace-contents.ts";
import type { Records } from "../../ports/records.ts";
import type { PullRequestHost } from "../../ports/webhooks/pull-request-host.ts";
import type { StepDependencies } from "./steps/index.ts";

/** The settings and ports of the reconcile of environments. Deletion and expiry each name their part of it. */
export interface EnvironmentDependencies extends StepDependencies {
  readonly log: Log;
  readonly serverClock: ServerClock;
  /** Uniform in [0, 1): spreads periodic work; never for secrets. */
  readonly random: () => number;
  readonly namespaceContents: NamespaceContents;
  readonly environments: OperatorEnvironments;
  readonly statusWriter: EnvironmentStatusWriter;
  readonly records: Records;
  readonly events: EventRecorder;
  /** Makes the messages about changes; `undefined` where the settings name no recipients. */
  readonly announcer: Announcer | undefined;
  readonly pullRequestHost: PullRequestHost;
  /** Environments that may report the status of this commit, see `commitStatusKey`. */
  readonly reportersOf: (key: string) => readonly EphemeralEnvironment[];
  readonly observedRequests: Activity;
}
