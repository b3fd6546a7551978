import { type ConfigSetVersion, revisionName } from "../../../crds/config-set.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import type { Reconcile } from "../../kit/controller/controller.ts";
import type { ConfigSetVersions } from "../../ports/config-sets.ts";
import type { Inventory } from "../../ports/namespace-contents.ts";

/** The versions, and the environments that may use them. */
export interface ConfigSetVersionDependencies {
  readonly configSetVersions: ConfigSetVersions;
  /** The environments that name the config set, from this process's cache. */
  readonly environmentsNaming: (configSet: string) => readonly EphemeralEnvironment[];
  readonly liveEnvironments: Inventory["liveEnvironments"];
}

/** Discards a config set version, by its revision's name, when no environment has or requests it. */
export function discardWhenUnused({
  configSetVersions: versions,
  environmentsNaming,
  liveEnvironments,
}: ConfigSetVersionDependencies): Reconcile {
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
