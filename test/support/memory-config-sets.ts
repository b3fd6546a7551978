import { type ConfigSet, type ConfigSetVersion, revisionName } from "../../crds/config-set.ts";
import type { ConfigSets, ConfigSetVersions } from "../../operator/ports/config-sets.ts";

/** Config sets that were made by hand. */
export function memoryConfigSets(...made: readonly ConfigSet[]): ConfigSets {
  const byName = new Map(made.map((configSet) => [configSet.metadata.name, configSet]));
  return { find: (name) => byName.get(name), list: () => [...byName.values()] };
}

/** Versions that are kept for as long as the object lives, but for those that are said to be unused. */
export function memoryConfigSetVersions(...kept: readonly ConfigSetVersion[]): ConfigSetVersions {
  const versions = new Map(kept.map((version) => [revisionName(version), version]));
  return {
    find: (revision) => versions.get(revision),
    async keep(version) {
      versions.set(revisionName(version), version);
    },
    async discard(revision, isUsed) {
      if (await isUsed()) return { state: "used" };
      versions.delete(revision);
      return { state: "gone" };
    },
  };
}
