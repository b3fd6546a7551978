import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { type ConfigSet, type ConfigSetVersion, revisionName } from "../../../../crds/config-set.ts";
import { API_VERSION, CREATED_BY_ANNOTATION } from "../../../../crds/group.ts";
import type { ConfigSets, ConfigSetVersions, Discard } from "../../../../operator/ports/config-sets.ts";

const MADE = "2026-06-01T12:00:00Z";
const CHANGED = "2026-06-01T12:00:01Z";

export interface MemoryConfigSets extends ConfigSets {
  /** Stores a config set as another client would. */
  put(configSet: ConfigSet): void;
  /** Removes one as another client would. */
  drop(name: string): void;
  failNext(error: Error): void;
}

/** Config sets without a cluster; fulfils `configSetsSuite`. */
export function memoryConfigSets(...made: readonly ConfigSet[]): MemoryConfigSets {
  const byName = new Map(made.map((configSet) => [configSet.metadata.name, configSet]));
  let failure: Error | undefined;
  const reach = () => {
    const error = failure;
    failure = undefined;
    if (error !== undefined) throw error;
  };
  const current = ({ metadata }: ConfigSet) => {
    const found = byName.get(metadata.name);
    return found?.metadata.uid === metadata.uid ? found : undefined;
  };
  const store = (configSet: ConfigSet) => {
    byName.set(configSet.metadata.name, configSet);
    return configSet;
  };
  return {
    find: (name) => byName.get(name),
    list: () => [...byName.values()],
    async create(name, spec, by) {
      reach();
      if (byName.has(name)) return "taken";
      const where = { name, namespace: "ephemeral-system", uid: randomUUID() };
      const version = { resourceVersion: "1", generation: 1, creationTimestamp: MADE };
      const metadata = { ...where, ...version, annotations: { [CREATED_BY_ANNOTATION]: by } };
      return store({ apiVersion: API_VERSION, kind: "ConfigSet", metadata, spec });
    },
    async replace(configSet, spec) {
      reach();
      const found = current(configSet);
      if (found === undefined) return "gone";
      if (isDeepStrictEqual(found.spec, spec)) return found;
      const { metadata } = found;
      const version = { resourceVersion: `${metadata.resourceVersion}1`, generation: metadata.generation + 1 };
      return store({ ...found, metadata: { ...metadata, ...version, managedFields: [{ time: CHANGED }] }, spec });
    },
    async remove(configSet) {
      reach();
      if (current(configSet) !== undefined) byName.delete(configSet.metadata.name);
    },
    put: (configSet) => void store(configSet),
    drop: (name) => void byName.delete(name),
    failNext: (error) => {
      failure = error;
    },
  };
}

const UNUSED_FOR_MS = 10 * 60_000;

interface Kept {
  readonly version: ConfigSetVersion;
  readonly madeAt: number;
  unusedSince: number | undefined;
}

/** Versions that are kept in memory, until they were unused for ten minutes of this clock. */
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
      // A concurrent use has removed the mark.
      if (found.unusedSince === undefined) return NOTED;
      versions.delete(revision);
      return { state: "gone" };
    },
  };
}

const NOTED: Discard = { state: "noted", requeueAfterMs: UNUSED_FOR_MS };

/** True when a version was unused for ten minutes; marks an unused one, unless it is new. */
function isLongUnused(kept: Kept, now: number): boolean {
  if (now - kept.madeAt < UNUSED_FOR_MS) return false;
  kept.unusedSince ??= now;
  return now - kept.unusedSince >= UNUSED_FOR_MS;
}

function used(kept: Kept): Discard {
  kept.unusedSince = undefined;
  return { state: "used" };
}
