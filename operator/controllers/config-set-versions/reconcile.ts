import { isDeepStrictEqual } from "node:util";
import { CONFIG_SET_LABEL, type ConfigSetVersion, revisionName } from "../../../crds/config-set.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import type { ControllerPorts } from "../../controller-ports.ts";
import { type Enqueue, endOf, type Reconcile } from "../../kit/controller/controller.ts";
import type { Caches } from "../../ports/caches.ts";

/** Dependencies for detecting disuse. */
export type DisuseContext = Pick<ControllerPorts, "configSetVersions" | "environmentsNaming" | "liveEnvironments">;

/** Discards a config set version, by its revision's name, when no environment has or requests it. */
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

/** True when an environment has the version, or may be about to get it. */
function uses(kept: ConfigSetVersion): (environment: EphemeralEnvironment) => boolean {
  const revision = revisionName(kept);
  return ({ spec, status }) =>
    status?.configSet?.revision === revision ||
    (spec.configSet?.name === kept.name && spec.configSet.version === kept.version);
}

/** Enqueues revisions that a change may have left unused. */
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
      // A requested, unresolved version is in no status.
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
