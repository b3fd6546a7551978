import { DELETED_BRANCH_ANNOTATION, RECONCILE_ANNOTATION } from "../../crds/group.ts";
import type { PushState } from "../../crds/webhooks/webhook-event.schema.ts";
import {
  type Decided,
  type DecisionContext,
  deletion,
  left,
  nothing,
  type RepositoryEvent,
  type RepositoryUse,
  usesOf,
} from "./decision.ts";

interface Push {
  readonly subject: RepositoryEvent;
  readonly push: PushState;
  readonly context: DecisionContext;
}

/**
 * Decisions about a push: environments that follow the branch read its head again; a deleted branch deletes the
 * environments that pipelines made of it. Pull requests' environments follow only their pull request.
 *
 * @throws HostUnavailable when a branch is reported as deleted and its host is unreachable, SecretsUnavailable
 */
export async function decidePush(given: Push): Promise<readonly Decided[]> {
  const { subject, push, context } = given;
  const uses = usesOf(subject, context).filter(({ source }) => source.branch === push.branch);
  if (uses.length === 0) return [nothing("NoEnvironment", `no environment has the branch '${push.branch}'`)];
  if (!push.deleted) return uses.map((use) => pushed(use, given));
  // Events may be reordered: the branch may have been pushed again.
  const head = await context.branchHeads.headOf(subject.repository, push.branch);
  if (head !== undefined) return [nothing("BranchExists", `the branch '${push.branch}' exists on its host`)];
  return uses.map((use) => deleted(use, given));
}

function pushed(use: RepositoryUse, { subject, push, context }: Push): Decided {
  const { environment, follows, desiredCommit } = use;
  const annotation = annotationOf(subject);
  const wasDeleted = environment.metadata.annotations?.[annotation] !== undefined;
  const isBehind = follows && desiredCommit !== push.commit;
  if (!isBehind && !wasDeleted) {
    const message = `the environment ${follows ? "has this commit" : "does not follow its branch"}`;
    return left(environment, "UpToDate", message);
  }
  const annotations = {
    ...(isBehind && { [RECONCILE_ANNOTATION]: context.clock.now().toISOString() }),
    ...(wasDeleted && { [annotation]: null }),
  };
  return { decision: { do: "update", environment, spec: {}, annotations, reason: "Pushed" }, trace: [] };
}

function deleted({ environment, follows, isMadeByPipeline }: RepositoryUse, { subject, push }: Push): Decided {
  if (follows && isMadeByPipeline) return deletion(environment, "BranchDeleted", []);
  const annotation = annotationOf(subject);
  if (environment.metadata.annotations?.[annotation] === push.branch) {
    return left(environment, "SourceGone", "the environment shows it already");
  }
  const annotations = { [annotation]: push.branch };
  return { decision: { do: "update", environment, spec: {}, annotations, reason: "SourceGone" }, trace: [] };
}

const annotationOf = ({ repository }: RepositoryEvent) => DELETED_BRANCH_ANNOTATION[repository.spec.type];
