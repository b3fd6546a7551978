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
import type { KubeClient } from "../../kit/client/kube-client.ts";
import type { Draft } from "../../kit/client/objects.ts";
import { retryOnConflict } from "../../kit/client/retries.ts";
import type { ServerClock } from "../../ports/cluster.ts";
import { BeingDeleted, NameTaken } from "../../ports/cluster.ts";
import type { ConfigSets, ConfigSetVersions, Discard } from "../../ports/config-sets.ts";
import { configSetType } from "./kinds.ts";
import { auditAnnotations, auditOperations, kept, keptRest, type Store } from "./store.ts";
import { complete, forUser } from "./user-request.ts";

/** Longer than any reconcile between choosing a version and storing its use. */
const UNUSED_FOR_MS = 10 * 60_000;
/** Enough for the watch to deliver what the decision missed. */
const DECIDE_AGAIN_MS = 1_000;

interface VersionsContext extends Pick<Store<WireObject>, "client" | "cache" | "namespace"> {
  /** One clock for all replicas: one notes, and maybe another removes. */
  readonly serverClock: ServerClock;
}

/** ConfigSetVersions port on ControllerRevisions, whose data is immutable. */
export function kubernetesConfigSetVersions(context: VersionsContext): ConfigSetVersions {
  const { cache, namespace } = context;
  return {
    find(revision) {
      const found = cache.get(`${namespace}/${revision}`);
      return found && versionOf(found);
    },

    async keep(version) {
      const known = cache.get(`${namespace}/${revisionName(version)}`);
      const isKept = known !== undefined && (await takeUp(context, version, known));
      if (!isKept) await make(context, version);
    },

    discard: (revision, isUsed) => discard(context, revision, isUsed),
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

async function make(context: VersionsContext, version: ConfigSetVersion): Promise<void> {
  const { client, cache, namespace } = context;
  try {
    cache.written(await client.create(revisionKind, revisionObject(version, namespace)));
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const found = await client.find(revisionKind, { name: revisionName(version), namespace });
    const isKept = found !== undefined && (await takeUp(context, version, found));
    if (!isKept) throw new BeingDeleted(`${revisionKind.kind} '${revisionName(version)}' went away just now`);
  }
}

/** Erases the note of disuse; false when the version is gone. */
async function takeUp(
  { client, cache }: VersionsContext,
  version: ConfigSetVersion,
  found: WireObject,
): Promise<boolean> {
  const { metadata } = found;
  if (metadata.labels?.[CONFIG_SET_UID_LABEL] !== version.uid) throw new NameTaken(revisionKind.kind, metadata.name);
  if (metadata.deletionTimestamp !== undefined) {
    throw new BeingDeleted(`${revisionKind.kind} '${metadata.name}' is being deleted`);
  }
  const isNoted = metadata.annotations?.[UNUSED_SINCE_ANNOTATION] !== undefined;
  const current = isNoted ? await note(client, found, null).catch(insteadOf(isNotFound, undefined)) : found;
  if (current !== undefined) cache.written(current);
  return current !== undefined;
}

function note(client: KubeClient, { metadata }: WireObject, since: string | null): Promise<WireObject> {
  const { name, namespace = "", resourceVersion } = metadata;
  const body = { metadata: { resourceVersion, annotations: { [UNUSED_SINCE_ANNOTATION]: since } } };
  return client.patch(revisionKind, { name, namespace }, body, { as: "merge" });
}

async function discard(context: VersionsContext, revision: string, isUsed: () => Promise<boolean>): Promise<Discard> {
  const { client, cache, namespace, serverClock } = context;
  const found = await client.find(revisionKind, { name: revision, namespace });
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) return { state: "gone" };
  const now = await serverClock.now();
  const { creationTimestamp, annotations } = found.metadata;
  // A new version is about to be used, so its disuse means nothing.
  const youngForMs = Date.parse(creationTimestamp) + UNUSED_FOR_MS - now.getTime();
  if (youngForMs > 0) return { state: "noted", requeueAfterMs: youngForMs };
  try {
    const since = annotations?.[UNUSED_SINCE_ANNOTATION];
    if (since === undefined) cache.written(await note(client, found, now.toISOString()));
    const leftMs = Date.parse(since ?? now.toISOString()) + UNUSED_FOR_MS - now.getTime();
    return leftMs > 0 ? { state: "noted", requeueAfterMs: leftMs } : await removeUnlessUsed(context, found, isUsed);
  } catch (error) {
    if (isConflict(error)) return { state: "noted", requeueAfterMs: DECIDE_AGAIN_MS };
    throw error;
  }
}

async function removeUnlessUsed(
  { client, cache, namespace }: VersionsContext,
  found: WireObject,
  isUsed: () => Promise<boolean>,
): Promise<Discard> {
  if (await isUsed()) {
    cache.written(await note(client, found, null));
    return { state: "used" };
  }
  const { name, uid, resourceVersion } = found.metadata;
  keptRest(cache, found, await client.delete(revisionKind, { name, namespace }, { uid, resourceVersion }));
  return { state: "gone" };
}

type ConfigSetsContext = Omit<Store<ConfigSet>, "clock">;

/** ConfigSets port on the Kubernetes API and the watch cache. */
export function kubernetesConfigSets(context: ConfigSetsContext): ConfigSets {
  const { cache, namespace } = context;
  return {
    find: (name) => complete(cache).get(`${namespace}/${name}`),
    list: () => complete(cache).list(),
    create: (name, spec, by) => forUser(() => create(context, { name, spec, by })),
    replace: (configSet, spec) => forUser(() => replace(context, configSet, spec)),
    remove: (configSet) => forUser(() => remove(context, configSet)),
  };
}

async function create(
  { client, cache, namespace, auditId }: ConfigSetsContext,
  { name, spec, by }: { name: string; spec: ConfigSetSpec; by: string },
): Promise<ConfigSet | "taken"> {
  const annotations = { [CREATED_BY_ANNOTATION]: by, ...auditAnnotations(auditId) };
  const metadata = { name, namespace, annotations };
  const created = await client.create(configSetType, { metadata, spec }).catch(insteadOf(isAlreadyExists, "taken"));
  return created === "taken" ? created : kept(cache, created);
}

/** Replaces the version read; an intermediate change is read and replaced too. */
async function replace(
  { client, cache, namespace, auditId }: ConfigSetsContext,
  configSet: ConfigSet,
  spec: ConfigSetSpec,
): Promise<ConfigSet | "gone"> {
  const { name, uid } = configSet.metadata;
  const ref = { name, namespace };
  return retryOnConflict(async (round) => {
    const current = round === 1 ? configSet : await client.find(configSetType, ref);
    if (current?.metadata.uid !== uid) return "gone";
    const version = { op: "replace", path: "/metadata/resourceVersion", value: current.metadata.resourceVersion };
    const stamp = auditOperations(current, auditId);
    const patch = [version, { op: "replace", path: "/spec", value: spec }, ...stamp];
    const changed = await client.patch(configSetType, ref, patch, { as: "json" }).catch(insteadOf(isNotFound, "gone"));
    return changed === "gone" ? changed : kept(cache, changed);
  });
}

async function remove({ client, cache, namespace, deletions }: ConfigSetsContext, configSet: ConfigSet): Promise<void> {
  const { name, uid } = configSet.metadata;
  const removal = deletions.during(uid, () => client.delete(configSetType, { name, namespace }, { uid }));
  // Conflict: another config set now has the name.
  keptRest(cache, configSet, await removal.catch(insteadOf(isConflict, "gone")));
}
