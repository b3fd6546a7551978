import { type Decided, type DecisionContext, nothing, type RepositoryEvent } from "./decision.ts";
import { decideMergeGroup } from "./merge-group.ts";
import { decidePipeline } from "./pipeline/pipeline.ts";
import { decidePullRequest } from "./pull-request/pull-request.ts";
import { decidePush } from "./push.ts";

/**
 * Decisions about an event for one Repository, by the current state: one, or one per environment of a push or pipeline.
 *
 * @throws HostUnavailable when a required host is unreachable, SecretsUnavailable when its credential can't be read:
 * decide again later
 */
export async function decide(subject: RepositoryEvent, context: DecisionContext): Promise<readonly Decided[]> {
  const { pullRequest, approval, push, pipeline, mergeGroup } = subject.event;
  const number = pullRequest?.number ?? approval?.number;
  if (number !== undefined) return [await decidePullRequest(subject, number, context)];
  if (push !== undefined) return decidePush({ subject, push, context });
  if (pipeline !== undefined) return decidePipeline({ subject, pipeline, context });
  if (mergeGroup !== undefined) return [decideMergeGroup(subject, mergeGroup.commit, context)];
  return [nothing("EventIgnored", "the platform does nothing about this event")];
}
