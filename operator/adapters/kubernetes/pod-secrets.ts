import { loginsOf } from "../../../crds/repository/docker-config.ts";
import { SEED_SECRET_TYPE } from "../../../crds/seed.schema.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import type { ObjectRef } from "../../kit/client/objects.ts";
import {
  type Container,
  containersOf,
  type Pod,
  type PodSecretReference,
  type PodSpec,
  type SecretObject,
  secretType,
} from "./pod-objects.ts";

/** Reads Secrets; a `"forbidden"` one may exist. */
export type SecretReader = (ref: Required<ObjectRef>) => Promise<SecretObject | "forbidden" | undefined>;

/** A Secret may have 1 MiB: this many are held at a time. */
const PAGE_SIZE = 10;

/** Reads all Secrets of a namespace on first use, so that existing ones bound the cost. For one check of pods. */
export function secretReader(client: KubeClient): SecretReader {
  const read = new Map<string, Promise<ReadonlyMap<string, SecretObject>>>();
  const all = async (namespace: string) => {
    const { items } = await client.list(secretType, { namespace, limit: PAGE_SIZE });
    return new Map(items.map((secret) => [secret.metadata.name, secret]));
  };
  return async ({ namespace, name }) => {
    const reading = read.get(namespace) ?? all(namespace);
    read.set(namespace, reading);
    return (await reading).get(name);
  };
}

/**
 * Values of all Secrets that the pod names. `isOneMissing` when its containers must have seen a missing or unreadable
 * one.
 *
 * @throws KubeError when they can't be read
 */
export async function secretsOfPod(read: SecretReader, { metadata, spec }: Pod) {
  const { namespace } = metadata;
  if (spec === undefined || namespace === undefined) return { values: [], isOneMissing: true };
  const byName = Map.groupBy([...containersOf(spec).flatMap(secretsOf), ...volumeSecrets(spec)], ({ name }) => name);
  const found = [...byName].map(async ([name, references]) => {
    const secret = await read({ name, namespace });
    if (secret === "forbidden") return { isMissing: true, values: [] };
    return {
      isMissing: secret === undefined && references.some(({ optional }) => optional !== true),
      values: valuesOf(secret),
    };
  });
  const secrets = await Promise.all(found);
  return {
    values: secrets.flatMap(({ values }) => values),
    isOneMissing: secrets.some(({ isMissing }) => isMissing),
  };
}

const plain = (value: string) => Buffer.from(value, "base64").toString("utf8");

/**
 * The file of a seed in git is no secret: masked, no failed load could say why. A docker configuration encodes its credentials once more; programs print them, or the password
 * alone.
 */
function valuesOf({ data = {}, type }: Partial<SecretObject> = {}): string[] {
  if (type === SEED_SECRET_TYPE) return [];
  const values = Object.values(data).map(plain);
  if (type !== "kubernetes.io/dockerconfigjson") return values;
  const logins = values.flatMap((value) => [...loginsOf(value).values()]).map((login) => login.reveal());
  return [...values, ...logins, ...logins.map((login) => login.slice(login.indexOf(":") + 1))];
}

function secretsOf({ env = [], envFrom = [] }: Container): PodSecretReference[] {
  const single = env.map(({ valueFrom }) => valueFrom?.secretKeyRef);
  const whole = envFrom.map(({ secretRef }) => secretRef);
  return [...single, ...whole].filter((reference) => reference !== undefined);
}

function volumeSecrets({ volumes = [] }: PodSpec): PodSecretReference[] {
  return volumes.flatMap(({ secret, projected }) => {
    const { secretName: name, ...more } = secret ?? {};
    const sources = (projected?.sources ?? []).map((source) => source.secret);
    return [name === undefined ? undefined : { name, ...more }, ...sources].filter((one) => one !== undefined);
  });
}
