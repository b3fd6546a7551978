import type { Pipeline } from "../../../crds/environment/ephemeral-environment.schema.ts";
import type { PipelineState } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { DecisionContext, Subject } from "../decision.ts";

/** A pipeline's report as one Repository sees it; only environments of this Repository are concerned. */
export interface ReportedPipeline {
  readonly subject: Subject;
  readonly pipeline: PipelineState;
  readonly context: DecisionContext;
}

/** The report as an environment records it. */
export function pipelineOf({ project, id, commit, status, url, at }: PipelineState): Pipeline {
  return { project, id, commit, status, at, ...(url === undefined ? {} : { url }) };
}
