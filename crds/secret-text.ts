import type { SecretRef } from "./overrides.schema.ts";
import { Sensitive } from "./sensitive.ts";

/** Reads a secret manager's value; `undefined` without such a secret or version. */
export interface SecretReader {
  read(id: string, version: number | "latest"): Promise<{ readonly value: Sensitive } | undefined>;
}

/**
 * Text of a referenced secret, without the trailing line break of editors and shells; `undefined` without one. The
 * caller checks permission. Throws what the reader throws.
 */
export async function textOf({ name, key }: SecretRef, secretManager: SecretReader): Promise<Sensitive | undefined> {
  const stored = await secretManager.read(name, key === "latest" ? key : Number(key));
  return stored && new Sensitive(stored.value.reveal().replace(/\r?\n$/, ""));
}
