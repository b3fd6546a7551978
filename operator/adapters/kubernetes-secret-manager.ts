import { ENVIRONMENT_UID_LABEL, ownerLabels } from "../../crds/group.ts";
import { secretStoreName } from "../../crds/names.ts";
import { Sensitive } from "../../crds/sensitive.ts";
import { secretKind } from "../kinds.ts";
import type { KubeClient } from "../kit/kube-client.ts";
import { isAlreadyExists, isForbidden, isUnavailable, KubeError } from "../kit/kube-errors.ts";
import { type KubeObject, type ResourceType, resourceType } from "../kit/kube-object.ts";
import { retryOnConflict } from "../kit/retry-on-conflict.ts";
import {
  type SecretManager,
  SecretManagerUnavailable,
  type SecretOwner,
  type SecretRequest,
  type StoredSecret,
} from "../ports/secret-manager.ts";

interface SecretObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const secretType: ResourceType<SecretObject> = resourceType<SecretObject>(secretKind);

interface Context {
  readonly client: KubeClient;
  readonly namespace: string;
}

/**
 * The embedded secret manager: one Secret an environment in the platform's own namespace, with a data key
 * `<VARIABLE>.<version>` a value. Keys are added under a precondition and never changed; the highest version counts.
 */
export function kubernetesSecretManager(context: Context): SecretManager {
  return {
    ensure: (owner, requests) => translated(() => ensure(context, owner, requests)),
    remove: (owner) => translated(() => remove(context, owner)),
    holdsAny: (owner) => translated(async () => (await find(context, owner)) !== undefined),
  };
}

/** Begins with the write: a new environment has no store yet, and one that has is not asked again. */
function ensure(context: Context, owner: SecretOwner, requests: readonly SecretRequest[]) {
  return retryOnConflict(async (round) => {
    const store = round === 1 ? undefined : await find(context, owner);
    const stored = read(store);
    const missing = requests.filter(({ name }) => !stored.has(name));
    if (missing.length === 0 && store !== undefined) return chosen(stored, requests);
    return chosen(read(await add(context, owner, store, missing)), requests);
  });
}

function add(
  { client, namespace }: Context,
  owner: SecretOwner,
  store: SecretObject | undefined,
  missing: readonly SecretRequest[],
) {
  const data = Object.fromEntries(
    missing.map(({ name, generate }) => [`${name}.1`, Buffer.from(generate().reveal()).toString("base64")]),
  );
  const name = secretStoreName(owner);
  if (store === undefined) {
    return client.create(secretType, { metadata: { name, namespace, labels: ownerLabels(owner) }, data });
  }
  const body = { metadata: { resourceVersion: store.metadata.resourceVersion }, data };
  return client.patch(secretType, { name, namespace }, body, { as: "merge" });
}

/** The owner's store; `undefined` also when somebody else's Secret has its name. */
async function find({ client, namespace }: Context, owner: SecretOwner): Promise<SecretObject | undefined> {
  const found = await client.find(secretType, { name: secretStoreName(owner), namespace });
  return found?.metadata.labels?.[ENVIRONMENT_UID_LABEL] === owner.uid ? found : undefined;
}

async function remove({ client, namespace }: Context, owner: SecretOwner): Promise<void> {
  const found = await find({ client, namespace }, owner);
  if (found === undefined) return;
  await client.delete(secretType, { name: found.metadata.name, namespace }, { uid: found.metadata.uid });
}

/** The highest version of every variable. */
function read(store: SecretObject | undefined): Map<string, StoredSecret> {
  const stored = new Map<string, StoredSecret>();
  for (const [key, encoded] of Object.entries(store?.data ?? {})) {
    const dot = key.lastIndexOf(".");
    const version = Number(key.slice(dot + 1));
    const name = key.slice(0, dot);
    if ((stored.get(name)?.version ?? 0) >= version) continue;
    stored.set(name, { version, value: new Sensitive(Buffer.from(encoded, "base64").toString("utf8")) });
  }
  return stored;
}

function chosen(stored: Map<string, StoredSecret>, requests: readonly SecretRequest[]): Map<string, StoredSecret> {
  return new Map(
    requests.map(({ name }) => {
      const secret = stored.get(name);
      if (secret === undefined) throw new SecretManagerUnavailable(`'${name}' was stored but can't be read back`);
      return [name, secret];
    }),
  );
}

async function translated<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    // A name that stays taken while we find nothing of ours under it is somebody else's.
    if (error instanceof KubeError && (isUnavailable(error) || isForbidden(error) || isAlreadyExists(error))) {
      throw new SecretManagerUnavailable(`the embedded secret manager can't be used: ${error.message}`, {
        cause: error,
      });
    }
    throw error;
  }
}
