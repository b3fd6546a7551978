import type { MergeGroupState } from "../../../crds/webhooks/webhook-event.schema.ts";
import { hostedRepository, wantsOf } from "../../host-reports/subject.ts";
import { contextOf } from "../../host-reports/wanted.ts";
import { type Decided, type DecisionContext, nothing, type Subject } from "../decision.ts";

interface MergeGroup {
  readonly subject: Subject;
  readonly mergeGroup: MergeGroupState;
  readonly context: Pick<DecisionContext, "settings" | "deliveries">;
}

/**
 * A merge group has no environment: its pull requests had theirs. A merge queue that requires our status would wait for it
 * nevertheless, so a success is reported, once for each commit.
 */
export function decideMergeGroup({ subject, mergeGroup: { commit }, context }: MergeGroup): Decided {
  const { repository } = subject;
  if (!wantsOf(repository).status) return nothing("StatusUnwanted", "its Repository wants no status of commits");
  const hosted = hostedRepository(repository, context.settings);
  if (hosted === undefined)
    return nothing("NoToken", "the settings have no token of its host, so no status is reported");
  if (isReported(commit, subject, context)) return nothing("Reported", "another delivery had its commit reported");
  const told = { commit, state: "success", description: "No environment is built for merge groups" } as const;
  const report = { ...told, context: contextOf({ name: repository.metadata.name }) };
  return { decision: { do: "report", repository: hosted, report, reason: "MergeGroup" }, trace: [] };
}

function isReported(commit: string, { repository, delivery }: Subject, { deliveries }: MergeGroup["context"]): boolean {
  return deliveries
    .ofCommit(commit)
    .some(
      ({ metadata, spec, status }) =>
        status?.phase === "acted" &&
        metadata.name !== delivery &&
        spec.event.mergeGroup !== undefined &&
        spec.repositories?.includes(repository.metadata.name),
    );
}
