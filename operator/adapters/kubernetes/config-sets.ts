import {
  CONFIG_SET_LABEL,
  CONFIG_SET_UID_LABEL,
  type ConfigSet,
  type ConfigSetSpec,
  type ConfigSetVersion,
  revisionName,
  UNUSED_SINCE_ANNOTATION,
} from "../../../crds/config-set.ts";
import { CREATED_BY_ANNOTATION } from "../../../crds/group.ts";
import { insteadOf, isAlreadyExists, isConflict, isNotFound } from "../../kit/client/errors.ts";
import { revisionKind, type WireObject } from "../../kit/client/kinds.ts";
import { type Draft, refOf } from "../../kit/client/objects.ts";
import { retryOnConflict } from "../../kit/client/retries.ts";
import { BeingDeleted, NameTaken, type ServerClock } from "../../ports/cluster.ts";
import type { ConfigSets, ConfigSetVersions, Discard } from "../../ports/config-sets.ts";
import { configSetType } from "./kinds.ts";
import { auditAnnotations, auditOperations, kept, keptRest, removeExactly, type Store, sameVersion } from "./store.ts";
import { complete, forUser } from "./user-request.ts";

/** Longer than any reconcile between choosing a version and storing its use. */
const UNUSED_FOR_MS = 10 * 60_000;
/** Enough for the watch to deliver what the decision missed. */
const DECIDE_AGAIN_MS = 1_000;

type ConfigSetStore = Omit<Store<ConfigSet>, "clock">;

interface VersionStore extends Pick<Store<WireObject>, "client" | "cache" | "namespace"> {
  /** One clock for all replicas: one notes, and maybe another removes. */
  readonly serverClock: ServerClock;
}

/** ConfigSetVersions port on ControllerRevisions, whose data is immutable. */
export function kubernetesConfigSetVersions(store: VersionStore): ConfigSetVersions {
  const { cache, namespace } = store;
  return {
    find(revision) {
      const found = cache.get(`${namespace}/${revision}`);
      return found && versionOf(found);
    },

    async keep(version) {
      const known = cache.get(`${namespace}/${revisionName(version)}`);
      const isKept = known !== undefined && (await takeUp(store, version, known));
      if (!isKept) await make(store, version);
    },

    discard: (revision, isUsed) => discard(store, revision, isUsed),
  };
}

function versionOf({ metadata, revision, data }: WireObject): ConfigSetVersion {
  const { spec } = data as { spec: ConfigSetSpec };
  const { [CONFIG_SET_LABEL]: name = "", [CONFIG_SET_UID_LABEL]: uid = "" } = metadata.labels ?? {};
  return { name, uid, version: revision as number, spec };
}

function revisionObject(version: ConfigSetVersion, namespace: string): Draft<WireObject> {
  const { name, uid, spec } = version;
  const managed = { "app.kubernetes.io/managed-by": "ephemeral-environments" };
  const labels = { ...managed, [CONFIG_SET_LABEL]: name, [CONFIG_SET_UID_LABEL]: uid };
  return { metadata: { name: revisionName(version), namespace, labels }, revision: version.version, data: { spec } };
}

async function make(store: VersionStore, version: ConfigSetVersion): Promise<void> {
  const { client, cache, namespace } = store;
  try {
    cache.written(await client.create(revisionKind, revisionObject(version, namespace)));
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const found = await client.find(revisionKind, { name: revisionName(version), namespace });
    const isKept = found !== undefined && (await takeUp(store, version, found));
    if (!isKept) throw new BeingDeleted(`${revisionKind.kind} '${revisionName(version)}' went away just now`);
  }
}

/** Erases the note of disuse; false when the version is gone. */
async function takeUp(store: VersionStore, version: ConfigSetVersion, found: WireObject): Promise<boolean> {
  const { metadata } = found;
  if (metadata.labels?.[CONFIG_SET_UID_LABEL] !== version.uid) throw new NameTaken(revisionKind.kind, metadata.name);
  if (metadata.deletionTimestamp !== undefined) {
    throw new BeingDeleted(`${revisionKind.kind} '${metadata.name}' is being deleted`);
  }
  const isNoted = metadata.annotations?.[UNUSED_SINCE_ANNOTATION] !== undefined;
  if (isNoted) return note(store, found, null).then(() => true, insteadOf(isNotFound, false));
  store.cache.written(found);
  return true;
}

async function note({ client, cache }: VersionStore, { metadata }: WireObject, since: string | null): Promise<void> {
  const { resourceVersion } = metadata;
  const body = { metadata: { resourceVersion, annotations: { [UNUSED_SINCE_ANNOTATION]: since } } };
  cache.written(await client.patch(revisionKind, metadata, body, { as: "merge" }));
}

async function discard(store: VersionStore, revision: string, isUsed: () => Promise<boolean>): Promise<Discard> {
  const { client, namespace, serverClock } = store;
  const found = await client.find(revisionKind, { name: revision, namespace });
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) return { state: "gone" };
  const now = await serverClock.now();
  const { creationTimestamp, annotations } = found.metadata;
  // A new version is about to be used, so its disuse means nothing.
  const youngForMs = Date.parse(creationTimestamp) + UNUSED_FOR_MS - now.getTime();
  if (youngForMs > 0) return { state: "noted", requeueAfterMs: youngForMs };
  try {
    const since = annotations?.[UNUSED_SINCE_ANNOTATION];
    if (since === undefined) await note(store, found, now.toISOString());
    const leftMs = Date.parse(since ?? now.toISOString()) + UNUSED_FOR_MS - now.getTime();
    return leftMs > 0 ? { state: "noted", requeueAfterMs: leftMs } : await removeUnlessUsed(store, found, isUsed);
  } catch (error) {
    if (isConflict(error)) return { state: "noted", requeueAfterMs: DECIDE_AGAIN_MS };
    throw error;
  }
}

async function removeUnlessUsed(
  store: VersionStore,
  found: WireObject,
  isUsed: () => Promise<boolean>,
): Promise<Discard> {
  if (await isUsed()) {
    await note(store, found, null);
    return { state: "used" };
  }
  const { uid, resourceVersion } = found.metadata;
  const left = await store.client.delete(revisionKind, found.metadata, { uid, resourceVersion });
  keptRest(store.cache, found, left);
  return { state: "gone" };
}

/** ConfigSets port on the Kubernetes API and the watch cache. */
export function kubernetesConfigSets(store: ConfigSetStore): ConfigSets {
  const { client, cache, namespace, auditId } = store;
  return {
    find: (name) => complete(cache).get(`${namespace}/${name}`),
    list: () => complete(cache).list(),
    create: (name, spec, by) =>
      forUser(() => {
        const annotations = { [CREATED_BY_ANNOTATION]: by, ...auditAnnotations(auditId) };
        const created = client.create(configSetType, { metadata: { name, namespace, annotations }, spec });
        return created.then((one) => kept(cache, one), insteadOf(isAlreadyExists, "taken"));
      }),
    replace: (configSet, spec) => forUser(() => replace(store, configSet, spec)),
    remove: (configSet) => forUser(() => removeExactly(store, configSetType, configSet)),
  };
}

/** Replaces the version read; an intermediate change is read and replaced too. */
async function replace(
  { client, cache, auditId }: ConfigSetStore,
  configSet: ConfigSet,
  spec: ConfigSetSpec,
): Promise<ConfigSet | "gone"> {
  const { metadata } = configSet;
  return retryOnConflict(async (round) => {
    const current = round === 1 ? configSet : await client.find(configSetType, refOf(metadata));
    if (current?.metadata.uid !== metadata.uid) return "gone";
    const replacement = { op: "replace", path: "/spec", value: spec };
    const patch = [sameVersion(current.metadata), replacement, ...auditOperations(current, auditId)];
    const changed = client.patch(configSetType, metadata, patch, { as: "json" });
    return changed.then((one) => kept(cache, one), insteadOf(isNotFound, "gone"));
  });
}
