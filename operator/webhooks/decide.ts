import { type Decided, type DecisionContext, nothing, type Subject } from "./decision.ts";
import { decideMergeGroup } from "./merge-group/merge-group.ts";
import { decidePipeline } from "./pipeline/pipeline.ts";
import { decidePullRequest } from "./pull-request/pull-request.ts";
import { decidePush } from "./push.ts";

/**
 * What to do about an event as one Repository sees it, by the state of now: one decision, or one for each environment that
 * a push or a pipeline concerns.
 *
 * @throws HostUnavailable when a host must be asked and can't be, SecretsUnavailable when its credential can't be read:
 *   decide again later
 */
export async function decide(subject: Subject, context: DecisionContext): Promise<readonly Decided[]> {
  const { pullRequest, approval, push, pipeline, mergeGroup } = subject.event;
  const number = pullRequest?.number ?? approval?.number;
  if (number !== undefined) return [await decidePullRequest(subject, number, context)];
  if (push !== undefined) return decidePush({ subject, push, context });
  if (pipeline !== undefined) return decidePipeline({ subject, pipeline, context });
  if (mergeGroup !== undefined) return [decideMergeGroup({ subject, mergeGroup, context })];
  return [nothing("EventIgnored", "the platform does nothing about this event")];
}
