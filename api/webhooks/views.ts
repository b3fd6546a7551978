import type { Settings } from "../../config/settings.ts";
import { PIPELINE_STATUSES } from "../../crds/environment/ephemeral-environment.schema.ts";
import type { Outcome } from "../../operator/ports/api/webhook-inbox.ts";
import type { PipelineReply, PipelineTest, RepohostReply } from "./schemas.ts";

const ACTIONS = {
  created: "environment_created",
  updated: "environment_updated",
  deleted: "environment_deleted",
} as const;

/** Outcome of an event in a sentence, with its stable word where nothing was done. */
function sentenceOf({ state, reason, message, environments }: Outcome): string {
  const isDone = environments.length > 0;
  const sentence = isDone ? message : `${reason}: ${message}`;
  return state === "duplicate" ? `received before; ${sentence}` : sentence;
}

/** Receipt for an event of a repository host. */
export function toRepohostReply(outcome: Outcome): RepohostReply {
  const [first] = outcome.environments;
  return {
    status: "processed",
    message: sentenceOf(outcome),
    environment_created: outcome.environments.some(({ action }) => action === "created"),
    environment_id: first?.uid ?? "",
  };
}

/** Receipt for an event of a pipeline host. */
export function toPipelineReply(outcome: Outcome): PipelineReply {
  const actions = outcome.environments.map(({ action }) => ACTIONS[action]);
  return { status: "processed", message: sentenceOf(outcome), actions_taken: [...new Set(actions)] };
}

const PIPELINE_PATH = "/api/webhooks/pipelinehost/pipeline";

/** State of the pipeline webhook: address, key, last report. */
export function toPipelineTest(
  { publicUrl }: Settings,
  { isConfigured, lastAt }: { readonly isConfigured: boolean; readonly lastAt: string | undefined },
): PipelineTest {
  return {
    status: "ok",
    message: isConfigured
      ? "A token is configured: send pipeline events to the endpoint"
      : "No token is configured: pipeline events are answered 503",
    configured: isConfigured,
    endpoint: publicUrl === undefined ? PIPELINE_PATH : `${publicUrl.replace(/\/+$/, "")}${PIPELINE_PATH}`,
    required_headers: ["X-Pipeline-Token", "Content-Type: application/json"],
    supported_statuses: [...PIPELINE_STATUSES],
    last_received_at: lastAt === undefined ? null : new Date(lastAt).toISOString(),
  };
}
