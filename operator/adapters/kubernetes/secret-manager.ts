import { isValueOwner } from "../../../crds/api-token.ts";
import {
  ENVIRONMENT_NAME_LABEL,
  ENVIRONMENT_UID_LABEL,
  ownerLabels,
  SHARED_SECRET_LABEL,
} from "../../../crds/group.ts";
import { isUuid, nameProblem, secretStoreName } from "../../../crds/names.ts";
import { Sensitive } from "../../../crds/sensitive.ts";
import { isAlreadyExists, isForbidden, isUnavailable, KubeError, translated } from "../../kit/client/errors.ts";
import type { KubeObject } from "../../kit/client/objects.ts";
import { retryOnConflict } from "../../kit/client/retries.ts";
import type { Owner } from "../../ports/cluster.ts";
import {
  type SecretManager,
  SecretManagerUnavailable,
  type SecretOwner,
  type SecretRequest,
  type StoredSecret,
} from "../../ports/secret-manager.ts";
import { type SecretObject, secretType } from "./pod-objects.ts";
import type { UncachedStore } from "./store.ts";

/** Kubernetes' rule for names; anything else names none, and must not become another path. */
const SECRET_NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

/**
 * Embedded secret manager: one Secret per environment in the platform's namespace, one data key `<VARIABLE>.<version>`
 * per value. Keys are added under a precondition and never changed.
 *
 * A shared secret is a Secret there with the label `ephemeral-environments.dev/shared: "true"`; its data keys are its
 * version numbers.
 */
export function kubernetesSecretManager(store: UncachedStore): SecretManager {
  return {
    ensure: (owner, requests) => answered(() => ensure(store, owner, requests)),
    remove: (owner) => answered(() => remove(store, owner)),
    holdsAny: (owner) => answered(async () => (await find(store, owner, true)) !== undefined),
    shared: (id) =>
      answered(async () => {
        const found = await findShared(store, id, true);
        return found && { labels: found.metadata.labels ?? {} };
      }),
    read: (id, version) => answered(async () => sharedValue(await findShared(store, id, false), version)),
    owners: (isKnown) => answered(() => owners(store, isKnown)),
    // The operator owns and closes the client.
    close: async () => undefined,
  };
}

/** Writes first when everything may be missing: a new environment has no store to read. */
function ensure(store: UncachedStore, owner: Owner, requests: readonly SecretRequest[]) {
  const mayBeNew = requests.every(({ version, generate }) => version === 1 && generate !== undefined);
  return retryOnConflict(async (round) => {
    const secret = round === 1 && mayBeNew ? undefined : await find(store, owner);
    const additions = requests.flatMap((request) => {
      if (request.generate === undefined || storedValue(secret, request) !== undefined) return [];
      return [[dataKey(request), Buffer.from(request.generate().reveal()).toString("base64")] as const];
    });
    if (additions.length === 0) return chosen(secret, requests);
    return chosen(await add(store, owner, secret, Object.fromEntries(additions)), requests);
  });
}

function add(
  { client, namespace }: UncachedStore,
  owner: Owner,
  secret: SecretObject | undefined,
  data: Record<string, string>,
) {
  const name = secretStoreName(owner);
  if (secret === undefined) {
    return client.create(secretType, { metadata: { name, namespace, labels: ownerLabels(owner) }, data });
  }
  const body = { metadata: { resourceVersion: secret.metadata.resourceVersion }, data };
  return client.patch(secretType, { name, namespace }, body, { as: "merge" });
}

/** The owner's store; `undefined` also when another Secret has its name. */
async function find(
  { client, namespace }: UncachedStore,
  owner: Owner,
  metadataOnly = false,
): Promise<SecretObject | undefined> {
  const found = await client.find(secretType, { name: secretStoreName(owner), namespace }, { metadataOnly });
  return found?.metadata.labels?.[ENVIRONMENT_UID_LABEL] === owner.uid ? found : undefined;
}

async function remove(store: UncachedStore, owner: Owner): Promise<void> {
  const found = await find(store, owner, true);
  if (found === undefined) return;
  await store.client.delete(secretType, found.metadata, { uid: found.metadata.uid });
}

/** A Secret with the shared label; an environment's store never has it. */
async function findShared({ client, namespace }: UncachedStore, id: string, metadataOnly: boolean) {
  if (!SECRET_NAME.test(id)) return undefined;
  const found = await client.find(secretType, { name: id, namespace }, { metadataOnly });
  const labels = found?.metadata.labels ?? {};
  return labels[SHARED_SECRET_LABEL] === "true" && labels[ENVIRONMENT_UID_LABEL] === undefined ? found : undefined;
}

function sharedValue(secret: SecretObject | undefined, version: number | "latest"): StoredSecret | undefined {
  const versions = Object.keys(secret?.data ?? {}).filter((key) => /^[1-9][0-9]{0,8}$/.test(key));
  const resolvedVersion = version === "latest" ? Math.max(0, ...versions.map(Number)) : version;
  const value = secret?.data?.[String(resolvedVersion)];
  return value === undefined ? undefined : { version: resolvedVersion, value: decoded(value) };
}

/** Reads only metadata: a sweep needs no values. */
async function owners(
  { client, namespace }: UncachedStore,
  isKnown: (uid: string) => boolean,
): Promise<readonly SecretOwner[]> {
  const options = { namespace, labelSelector: ENVIRONMENT_UID_LABEL, metadataOnly: true };
  const { items } = await client.list(secretType, options);
  return items.flatMap(({ metadata }) => {
    const owner = storeOwner(metadata);
    if (owner === undefined || isKnown(owner.uid)) return [];
    return [{ ...owner, since: new Date(metadata.creationTimestamp), until: changedAt(metadata) }];
  });
}

/** Owner of a store, by our naming rules: a copy under another name has none. */
function storeOwner({ name: storeName, labels = {} }: KubeObject["metadata"]): Owner | undefined {
  const { [ENVIRONMENT_NAME_LABEL]: name = "", [ENVIRONMENT_UID_LABEL]: uid = "" } = labels;
  const isOwner = isValueOwner({ name, uid }) || (isUuid(uid) && nameProblem(name) === undefined);
  return isOwner && storeName === secretStoreName({ name, uid }) ? { name, uid } : undefined;
}

/** Time of the last change, such as an added value. */
function changedAt({ creationTimestamp, managedFields = [] }: KubeObject["metadata"]): Date {
  const times = managedFields.flatMap(({ time }) => (time === undefined ? [] : [Date.parse(time)]));
  return new Date(Math.max(Date.parse(creationTimestamp), ...times));
}

const dataKey = ({ name, version }: SecretRequest) => `${name}.${version}`;
const decoded = (value: string) => new Sensitive(Buffer.from(value, "base64").toString("utf8"));

function storedValue(secret: SecretObject | undefined, request: SecretRequest): Sensitive | undefined {
  const value = secret?.data?.[dataKey(request)];
  return value === undefined ? undefined : decoded(value);
}

function chosen(secret: SecretObject | undefined, requests: readonly SecretRequest[]): Map<string, StoredSecret> {
  return new Map(
    requests.flatMap((request) => {
      const value = storedValue(secret, request);
      return value === undefined ? [] : [[request.name, { version: request.version, value }] as const];
    }),
  );
}

const answered = <T>(call: () => Promise<T>) => translated(call, toUnavailable);

function toUnavailable(error: unknown): SecretManagerUnavailable | undefined {
  // A name that stays taken without a store of ours belongs to another Secret.
  const isObstacle = isUnavailable(error) || isForbidden(error) || isAlreadyExists(error);
  if (!(error instanceof KubeError) || !isObstacle) return undefined;
  return new SecretManagerUnavailable(`the embedded secret manager can't be used: ${error.message}`, { cause: error });
}
