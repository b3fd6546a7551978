import type { Settings } from "../../../config/settings.ts";
import type { FeedbackStatus } from "../../../crds/environment/environment-status.schema.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import type { ControllerPorts } from "../../controller-ports.ts";
import { type SubjectContext, subjectOf } from "../../host-reports/subject.ts";
import { wantedOf } from "../../host-reports/wanted.ts";
import { isUnavailable } from "../../kit/client/errors.ts";
import type { Reconcile, ReconcileResult } from "../../kit/controller/controller.ts";
import { equalJson } from "../../kit/equal-json.ts";
import { type PullRequestHost, PullRequestHostFailed } from "../../ports/webhooks/pull-request-host.ts";
import { tell } from "./tell.ts";

const STORE_AGAIN_MS = 5_000;

export interface FeedbackContext extends SubjectContext, Pick<ControllerPorts, "environment" | "statusWriter" | "log"> {
  readonly settings: Settings;
  readonly pullRequestHost: PullRequestHost;
}

/**
 * Tells the host of a pull request, or of a pipeline, about its environment: each state once, because what was told is
 * stored in the environment's status. The end of an environment is told by its teardown, see `conclude.ts`.
 */
export function createFeedbackReconciler(context: FeedbackContext): Reconcile {
  /** What was told and could not be stored yet, by name. */
  const unstored = new Map<string, { readonly uid: string; readonly feedback: FeedbackStatus }>();
  const host = context.pullRequestHost;

  const lasting = (name: string) => {
    const found = context.environment(name);
    return found?.metadata.deletionTimestamp === undefined ? found : undefined;
  };
  const former = ({ metadata: { name, uid }, status }: EphemeralEnvironment) => {
    const kept = unstored.get(name);
    return (kept?.uid === uid ? kept.feedback : status?.feedback) ?? {};
  };
  const store = async ({ metadata: { name, uid } }: EphemeralEnvironment, feedback: FeedbackStatus) => {
    unstored.set(name, { uid, feedback });
    // The calls may have lasted for seconds.
    const latest = context.environment(name);
    if (latest?.metadata.uid === uid && !equalJson(latest.status?.feedback ?? {}, feedback)) {
      await context.statusWriter.writeStatus(latest, { ...latest.status, feedback });
    }
    unstored.delete(name);
  };

  return async (name, { signal }) => {
    const found = lasting(name);
    if (found === undefined) unstored.delete(name);
    const subject = found && subjectOf(found, context);
    if (found === undefined || subject === undefined) return;
    const known = former(found);
    const environment = { ...found, status: { ...found.status, feedback: known } };
    const wanted = wantedOf(environment, subject, context.settings.publicUrl);
    const isLasting = () => lasting(name)?.metadata.uid === found.metadata.uid;
    const { feedback, error } = await tell(known, { host, subject, wanted, signal, isLasting });
    const notStored = await store(found, feedback).catch((failure: unknown) => {
      context.log.warn("what the host was told is not stored yet", { environment: name, error: failure });
      return failure;
    });
    return error === undefined ? afterStoring(notStored) : afterFailure(error);
  };
}

/** A host may name the time of the next try; otherwise the controller backs off. */
function afterFailure(error: unknown): ReconcileResult {
  const retryAfterMs = error instanceof PullRequestHostFailed ? error.retryAfterMs : undefined;
  if (retryAfterMs === undefined) throw error;
  return { requeueAfterMs: retryAfterMs };
}

/** The controller's backoff is for the host: it must not keep what was told from an API server that is back. */
function afterStoring(failure: unknown): ReconcileResult {
  if (failure === undefined) return {};
  if (!isUnavailable(failure)) throw failure;
  return { requeueAfterMs: STORE_AGAIN_MS };
}
