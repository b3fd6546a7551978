import { isDeepStrictEqual } from "node:util";
import { CONFIG_SET_LABEL, type ConfigSetVersion, revisionName } from "../../../crds/config-set.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import type { ControllerPorts } from "../../controller-ports.ts";
import { type Enqueue, endOf, type Reconcile } from "../../kit/controller/controller.ts";
import type { Caches } from "../../ports/caches.ts";

/** What tells whether a version is used. */
export type DisuseContext = Pick<ControllerPorts, "configSetVersions" | "environmentsNaming" | "liveEnvironments">;

/** Discards a version of a config set, by its revision's name, when no environment has it or asks for it. */
export function discardWhenUnused({
  configSetVersions: versions,
  environmentsNaming,
  liveEnvironments,
}: DisuseContext): Reconcile {
  return async (revision) => {
    const version = versions.find(revision);
    if (version === undefined || environmentsNaming(version.name).some(uses(version))) return;
    const outcome = await versions.discard(revision, async () => (await liveEnvironments()).some(uses(version)));
    return outcome.state === "noted" ? { requeueAfterMs: outcome.requeueAfterMs } : undefined;
  };
}

/** Whether an environment has the version, or may be about to move to it. */
function uses(kept: ConfigSetVersion): (environment: EphemeralEnvironment) => boolean {
  const revision = revisionName(kept);
  return ({ spec, status }) =>
    status?.configSet?.revision === revision ||
    (spec.configSet?.name === kept.name && spec.configSet.version === kept.version);
}

/** Enqueues the revisions that may be unused after a change. */
export function enqueueOnDisuse(
  { environments, revisions }: Pick<Caches, "environments" | "revisions">,
  enqueue: Enqueue,
): () => void {
  const revisionsOf = ({ name, version }: { name: string; version?: number }) =>
    revisions
      .list()
      .filter(({ metadata, revision }) => revision === version && metadata.labels?.[CONFIG_SET_LABEL] === name);
  return endOf([
    environments.subscribe((_name, current, previous) => {
      const former = previous?.status?.configSet?.revision;
      if (former !== undefined && current?.status?.configSet?.revision !== former) enqueue(former, "low");
      // A version that was requested and never resolved is in no status.
      const requested = previous?.spec.configSet;
      if (requested?.version === undefined || isDeepStrictEqual(requested, current?.spec.configSet)) return;
      for (const { metadata } of revisionsOf(requested)) enqueue(metadata.name, "low");
    }),
    // The operator that stored it may have crashed before a status named it.
    revisions.subscribe((_key, current, previous) => {
      if (current !== undefined && previous === undefined) enqueue(current.metadata.name, "low");
    }),
  ]);
}
