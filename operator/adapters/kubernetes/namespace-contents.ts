import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { ENVIRONMENT_UID_LABEL, PODS_ENDED_ANNOTATION } from "../../../crds/group.ts";
import { namespaceName } from "../../../crds/names.ts";
import { PLATFORM_KEYS_OWNER } from "../../../crds/notifications/extension-token.ts";
import { present } from "../../../crds/present.ts";
import { insteadOf, isForbidden, isInvalid, isNotFound, KubeError } from "../../kit/client/errors.ts";
import {
  eventKind,
  namespaceKind,
  volumeClaimKind,
  volumeKind,
  type WireObject,
  wireKind,
} from "../../kit/client/kinds.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import { type KubeObject, type ResourceType, resourceType } from "../../kit/client/objects.ts";
import { retryOnConflict } from "../../kit/client/retries.ts";
import type { Clock } from "../../kit/time/clock.ts";
import { BY_UID, type Caches } from "../../ports/caches.ts";
import type { Content, Inventory, NamespaceContents, RetainedVolume } from "../../ports/namespace-contents.ts";
import { apiTokenType, environmentType } from "./kinds.ts";
import { type Pod, podType } from "./pod-objects.ts";
import { withoutFinalizers } from "./status-writer.ts";
import { isOvertaken, sameObject } from "./store.ts";

/** NamespaceContents port on the Kubernetes API, with the rights of the environment's own namespace. */
export function kubernetesNamespaceContents(client: KubeClient, clock: Clock): NamespaceContents {
  return {
    async list({ name }) {
      const namespace = namespaceName(name);
      const stored = await storedKinds(client);
      const kinds = stored.kinds.filter(({ plural }) => plural !== eventKind.plural);
      const found = await Promise.all(kinds.map((kind) => contentsOf(client, kind, namespace)));
      const known = found.filter((contents) => contents !== undefined);
      // Some kinds are served by two groups.
      const contents = [...new Map(known.flat().map((content) => [content.uid, content])).values()];
      return { contents, isComplete: stored.isComplete && known.length === found.length };
    },

    async endPods({ name }, graceSeconds) {
      const namespace = namespaceName(name);
      const { items } = await client.list(podType, { namespace });
      await Promise.all(
        items.flatMap((pod) => {
          const gracePeriodSeconds = shortened(pod, graceSeconds, clock.now());
          if (gracePeriodSeconds === undefined) return [];
          const { uid } = pod.metadata;
          const deletion = client.delete(podType, pod.metadata, { uid, gracePeriodSeconds });
          // A refused one remains, as one does that does not end.
          return [deletion.then(() => undefined, refusalOf)];
        }),
      );
      return items.length;
    },

    async release({ name: environment }, content, removable) {
      const { kind, name, uid } = content;
      const ref = { name, namespace: namespaceName(environment) };
      const remove = async (round: number) => {
        const found = round === 1 ? content : (await client.find<WireObject>(kind, ref))?.metadata;
        const body = found?.uid === uid ? withoutFinalizers(found, removable) : undefined;
        if (body !== undefined) await client.patch(kind, ref, body, { as: "json" });
      };
      return retryOnConflict(remove).then(() => undefined, refusalOf);
    },

    async announcePodsEnded({ name: environment, uid: owner }) {
      const found = await client.find(namespaceType, { name: namespaceName(environment) });
      if (found === undefined) return;
      const { name, uid, labels = {}, annotations = {} } = found.metadata;
      if (labels[ENVIRONMENT_UID_LABEL] !== owner || Object.hasOwn(annotations, PODS_ENDED_ANNOTATION)) return;
      const body = { metadata: { uid, annotations: { [PODS_ENDED_ANNOTATION]: clock.now().toISOString() } } };
      await client.patch(namespaceType, { name }, body, { as: "merge" }).catch(insteadOf(isNotFound, undefined));
    },

    async retainedVolumes({ name }) {
      const claims = client.list(claimType, { namespace: namespaceName(name) });
      // The platform's RoleBinding may not exist yet, or any more.
      const { items } = await claims.catch(insteadOf(isForbidden, { items: [] }));
      const found = await Promise.all(
        items.map(async (claim) => {
          const { volumeName = "" } = claim.spec ?? {};
          const volume = volumeName === "" ? undefined : await client.find(volumeType, { name: volumeName });
          return (volume && retainedVolumeOf(claim, volume)) ?? [];
        }),
      );
      return found.flat().sort((one, other) => (one.name < other.name ? -1 : 1));
    },

    async endWithClaim({ name, uid }) {
      const deletes = { op: "replace", path: "/spec/persistentVolumeReclaimPolicy", value: "Delete" };
      const body = [sameObject({ uid }), deletes];
      await client.patch(volumeType, { name }, body, { as: "json" }).catch(insteadOf(isNotFound, undefined));
    },
  };
}

/** Objects of one kind; `undefined` while it can't be listed. */
async function contentsOf(
  client: KubeClient,
  kind: ResourceType<WireObject>,
  namespace: string,
): Promise<readonly Content[] | undefined> {
  try {
    const { items } = await client.list<WireObject>(kind, { namespace, metadataOnly: true });
    return items.map(({ metadata: { name, uid, resourceVersion, finalizers = [], deletionTimestamp } }) => {
      return { kind, name, uid, resourceVersion, finalizers, isDeleted: deletionTimestamp !== undefined };
    });
  } catch (error) {
    if (isUnlistable(error)) return [];
    if (isFaulty(error)) return undefined;
    throw error;
  }
}

/** Refusal of a change or deletion. A missing or constantly changing object is none. */
function refusalOf(error: unknown): string | undefined {
  if (isOvertaken(error)) return undefined;
  if (!(error instanceof KubeError) || !isRefusal(error)) throw error;
  return error.detail() || error.message;
}

/** A webhook may answer with any status. One that can't be reached is a 500 that names it; other 500s are the API server's. */
const isRefusal = (error: KubeError) =>
  isForbidden(error) || isInvalid(error) || (error.status === 500 && /webhook/i.test(error.detail()));

/** The server of one kind fails or is away, which says nothing of other kinds. Without rights nothing can be listed. */
const isFaulty = (error: unknown) => error instanceof KubeError && error.reason !== "Aborted" && !isForbidden(error);

/** The kind's CRD is gone, or its API lists nothing. */
const isUnlistable = (error: unknown) => isNotFound(error) || (error instanceof KubeError && error.status === 405);

/** Grace period that ends a pod in time; `undefined` where its own does. */
function shortened({ metadata, spec }: Pod, graceSeconds: number, now: Date): number | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = metadata;
  if (deletionTimestamp === undefined)
    return Math.min(spec?.terminationGracePeriodSeconds ?? graceSeconds, graceSeconds);
  if (deletionGracePeriodSeconds <= graceSeconds) return undefined;
  const requestedMs = Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1_000;
  const leftSeconds = graceSeconds - Math.round((now.getTime() - requestedMs) / 1_000);
  return Math.min(graceSeconds, Math.max(1, leftSeconds));
}

/** Used part of a PersistentVolumeClaim. */
export interface Claim extends KubeObject {
  readonly spec?: { readonly volumeName?: string };
}

/** Used part of a PersistentVolume. https://kubernetes.io/docs/concepts/storage/persistent-volumes/ */
export interface Volume extends KubeObject {
  readonly spec?: { readonly claimRef?: { readonly uid?: string }; readonly persistentVolumeReclaimPolicy?: string };
}

const namespaceType = resourceType<KubeObject>(namespaceKind);
export const claimType = resourceType<Claim>(volumeClaimKind);
export const volumeType = resourceType<Volume>(volumeKind);

/** Kubernetes chose this volume for a claim: it existed before, unless a provisioner made it. */
const CHOSEN = "pv.kubernetes.io/bound-by-controller";
const PROVISIONED = "pv.kubernetes.io/provisioned-by";

/** The volume, if it is this claim's and outlives it. */
export function retainedVolumeOf(claim: Claim, { metadata, spec }: Volume): RetainedVolume | undefined {
  if (spec?.claimRef?.uid !== claim.metadata.uid || spec.persistentVolumeReclaimPolicy !== "Retain") return undefined;
  const { name, uid, annotations = {} } = metadata;
  const isMadeForClaim = !Object.hasOwn(annotations, CHOSEN) || Object.hasOwn(annotations, PROVISIONED);
  return { name, uid, isMadeForClaim };
}

/** https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery: all groups in one answer. */
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
/** A hundred times the answer of an API server with many CRDs. */
const LIMIT_BYTES = 64 * 1024 ** 2;

interface ServedGroup {
  readonly metadata?: { readonly name?: string };
  /** Preferred first. */
  readonly versions?: readonly ServedVersion[];
}

interface ServedVersion {
  readonly version: string;
  /** `Stale` while its server does not answer; then kinds may be missing. */
  readonly freshness?: string;
  readonly resources?: readonly ServedResource[];
}

interface ServedResource {
  readonly resource: string;
  readonly responseKind?: { readonly kind?: string };
  readonly scope?: string;
  readonly verbs?: readonly string[];
}

/** Namespaced kinds that are stored, in their group's preferred version; incomplete while a group's server is away. */
async function storedKinds(
  client: KubeClient,
): Promise<{ readonly kinds: readonly ResourceType<WireObject>[]; readonly isComplete: boolean }> {
  const groups = await Promise.all(
    ["/api", "/apis"].map(async (path) => {
      const text = await client.text(path, {}, { limitBytes: LIMIT_BYTES, accept: AGGREGATED });
      return (JSON.parse(text) as { readonly items?: readonly ServedGroup[] }).items ?? [];
    }),
  );
  const versions = groups.flat().flatMap(({ versions: served = [] }) => served);
  const isComplete = versions.every(({ freshness }) => freshness !== "Stale");
  return { kinds: groups.flat().flatMap(kindsOf), isComplete };
}

function kindsOf({ metadata, versions = [] }: ServedGroup): ResourceType<WireObject>[] {
  const kinds = versions.flatMap(({ version, resources = [] }) =>
    resources.filter(isStored).map(({ resource, responseKind }) => {
      const facts = { group: metadata?.name ?? "", version, plural: resource, namespaced: true };
      return wireKind({ ...facts, kind: responseKind?.kind ?? resource });
    }),
  );
  // Some kinds are served only in a later version.
  return [...Map.groupBy(kinds, ({ plural }) => plural).values()].flatMap((same) => same.slice(0, 1));
}

const isStored = ({ scope, verbs = [] }: ServedResource) =>
  scope === "Namespaced" && ["list", "patch", "delete"].every((verb) => verbs.includes(verb));

interface InventorySources {
  readonly client: KubeClient;
  readonly caches: Caches;
  /** The platform's own. */
  readonly namespace: string;
  readonly deployerKinds: readonly { readonly type: ResourceType }[];
}

/** Inventory port on the Kubernetes API and the watch caches. */
export function kubernetesInventory({ client, caches, namespace, deployerKinds }: InventorySources): Inventory {
  const belongingKinds = [namespaceKind, ...deployerKinds.map(({ type }) => type)];
  const livingTokens = () => uidsOf(client, apiTokenType, namespace);
  return {
    livingTokens,
    async livingUids() {
      const [environments, tokens] = await Promise.all([uidsOf(client, environmentType), livingTokens()]);
      return { environments, tokens };
    },
    liveEnvironments: async () => (await client.list(environmentType, { keep: onlyConfigSet })).items,
    isKnown: (uid) =>
      uid === PLATFORM_KEYS_OWNER.uid ||
      [caches.environments, caches.apiTokens].some((cache) => cache.by(BY_UID, uid).length > 0),
    belongings: () => belongingKinds.flatMap(({ plural }) => caches.children.get(plural)?.list() ?? []),
  };
}

async function uidsOf<T extends KubeObject>(client: KubeClient, type: ResourceType<T>, namespace?: string) {
  // Only this field of ten thousand objects is held, page by page.
  const keep = ({ metadata: { uid } }: T) => ({ metadata: { uid } }) as T;
  const { items } = await client.list(type, { ...present({ namespace }), metadataOnly: true, keep });
  return items.map(({ metadata }) => metadata.uid);
}

function onlyConfigSet({ spec, status }: EphemeralEnvironment): EphemeralEnvironment {
  return { spec: { configSet: spec.configSet }, status: { configSet: status?.configSet } } as EphemeralEnvironment;
}
