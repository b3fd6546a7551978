import { list, read } from "./kubectl.ts";
import { names } from "./site.ts";

interface SecretData {
  readonly data: Readonly<Record<string, string>>;
}

/** The name of the Secret for the environment's pods. Fails before it is in the status. */
export async function podSecretName(name: string): Promise<string> {
  const { status } = await read<{ status?: { podSecrets?: readonly string[] } }>("eenv", name);
  const latest = status?.podSecrets?.at(-1);
  if (latest === undefined) throw new Error(`the status of '${name}' names no Secret of its pods`);
  return latest;
}

/** The plain values of the environment's pods, by variable. Fails without them. */
export async function podSecret(name: string): Promise<Readonly<Record<string, string>>> {
  const { data } = await read<SecretData>("secret", await podSecretName(name), `--namespace=env-${name}`);
  return decoded(data);
}

/** The environment's entries in the embedded secret manager: name of the entry, and its plain values by key. */
export async function storedSecrets(
  uid: string,
): Promise<readonly (readonly [string, Readonly<Record<string, string>>])[]> {
  const entries = await list<SecretData>(
    "secrets",
    `--namespace=${names.secretStoreNamespace}`,
    `--selector=${names.uidLabel}=${uid}`,
  );
  return entries.map(({ metadata, data }) => [metadata.name, decoded(data)]);
}

function decoded(data: SecretData["data"]): Readonly<Record<string, string>> {
  const plain = Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]);
  return Object.fromEntries(plain);
}
