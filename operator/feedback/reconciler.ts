import type { Settings } from "../../config/settings.ts";
import type { FeedbackStatus } from "../../crds/environment/environment-status.schema.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import type { ControllerPorts } from "../controller-ports.ts";
import type { Reconcile, ReconcileResult } from "../kit/controller/controller.ts";
import { equalJson } from "../kit/equal-json.ts";
import { type PullRequestHost, PullRequestHostFailed } from "../ports/pull-request-host.ts";
import { type SubjectContext, subjectOf } from "./subject.ts";
import { tell } from "./tell.ts";
import { wantedOf } from "./wanted.ts";

export interface FeedbackContext extends SubjectContext, Pick<ControllerPorts, "environment" | "statusWriter"> {
  readonly settings: Settings;
  readonly pullRequestHost: PullRequestHost;
}

/**
 * Tells the host of a pull request, or of a pipeline, about its environment: each state once, because what was told is
 * stored in the environment's status. The end of an environment is told by its teardown, see `conclude.ts`.
 */
export function createFeedbackReconciler(context: FeedbackContext): Reconcile {
  /** What was told and could not be stored yet, by UID. */
  const unstored = new Map<string, FeedbackStatus>();

  const store = async (told: EphemeralEnvironment, feedback: FeedbackStatus) => {
    unstored.set(told.metadata.uid, feedback);
    const latest = context.environment(told.metadata.name);
    // The calls may have lasted for seconds.
    if (latest?.metadata.uid === told.metadata.uid && !equalJson(latest.status?.feedback ?? {}, feedback)) {
      await context.statusWriter.writeStatus(latest, { ...latest.status, feedback });
    }
    unstored.delete(told.metadata.uid);
  };

  return async (name, { signal }) => {
    const found = context.environment(name);
    const subject = found && isLasting(found) ? subjectOf(found, context) : undefined;
    if (found === undefined || subject === undefined) return;
    const former = unstored.get(found.metadata.uid) ?? found.status?.feedback ?? {};
    const environment = { ...found, status: { ...found.status, feedback: former } };
    const wanted = wantedOf(environment, subject, context.settings.publicUrl);
    const { feedback, error } = await tell(former, { host: context.pullRequestHost, subject, wanted, signal });
    await store(found, feedback);
    return afterwards(error);
  };
}

const isLasting = ({ metadata }: EphemeralEnvironment) => metadata.deletionTimestamp === undefined;

/** A host may name the time of the next try; otherwise the controller backs off. */
function afterwards(error: unknown): ReconcileResult {
  if (error === undefined) return {};
  const retryAfterMs = error instanceof PullRequestHostFailed ? error.retryAfterMs : undefined;
  if (retryAfterMs === undefined) throw error;
  return { requeueAfterMs: retryAfterMs };
}
