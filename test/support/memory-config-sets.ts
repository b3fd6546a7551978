import { type ConfigSet, type ConfigSetVersion, revisionName } from "../../crds/config-set.ts";
import type { ConfigSets, ConfigSetVersions, Discard } from "../../operator/ports/config-sets.ts";

/** Config sets that were made by hand. */
export function memoryConfigSets(...made: readonly ConfigSet[]): ConfigSets {
  const byName = new Map(made.map((configSet) => [configSet.metadata.name, configSet]));
  return { find: (name) => byName.get(name), list: () => [...byName.values()] };
}

const UNUSED_FOR_MS = 10 * 60_000;

interface Kept {
  readonly version: ConfigSetVersion;
  readonly madeAt: number;
  unusedSince: number | undefined;
}

/** Versions that are kept for as long as the object lives, or until they were unused for ten minutes of this clock. */
export function memoryConfigSetVersions(
  kept: readonly ConfigSetVersion[] = [],
  now: () => number = Date.now,
): ConfigSetVersions {
  const entry = (version: ConfigSetVersion): Kept => ({ version, madeAt: now(), unusedSince: undefined });
  const versions = new Map(kept.map((version) => [revisionName(version), entry(version)]));
  return {
    find: (revision) => versions.get(revision)?.version,
    async keep(version) {
      const known = versions.get(revisionName(version));
      if (known === undefined) versions.set(revisionName(version), entry(version));
      else known.unusedSince = undefined;
    },
    async discard(revision, isUsed) {
      const found = versions.get(revision);
      if (found === undefined) return { state: "gone" };
      if (!isLongUnused(found, now())) return NOTED;
      if (await isUsed()) return used(found);
      // Whoever took it up meanwhile crossed the note out.
      if (found.unusedSince === undefined) return NOTED;
      versions.delete(revision);
      return { state: "gone" };
    },
  };
}

const NOTED: Discard = { state: "noted", recheckAfterMs: UNUSED_FOR_MS };

/** Notes since when it is unused, unless it was made a moment ago. */
function isLongUnused(kept: Kept, now: number): boolean {
  if (now - kept.madeAt < UNUSED_FOR_MS) return false;
  kept.unusedSince ??= now;
  return now - kept.unusedSince >= UNUSED_FOR_MS;
}

function used(kept: Kept): Discard {
  kept.unusedSince = undefined;
  return { state: "used" };
}
