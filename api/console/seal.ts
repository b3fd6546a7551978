import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { SecretsUnavailable } from "../../crds/errors.ts";
import type { Sensitive } from "../../crds/sensitive.ts";
import type { KeyRing } from "./keys.ts";

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** Sealed values are smaller. */
const MAX_TEXT_BYTES = 65_536;
/** Version of the key, and base64url of initialization vector, tag and sealed text. */
const SEALED = /^([1-9][0-9]{0,6})\.([A-Za-z0-9_-]{38,})$/;

/** Seals values for cookies: only this installation can read and make them. */
export interface Seal<T> {
  /** Seals a value in a cookie's characters. Throws SecretsUnavailable. */
  seal(value: T): Promise<string>;
  /** Opens a sealed value; `undefined` without a live key or for another purpose. Throws SecretsUnavailable. */
  open(text: string): Promise<T | undefined>;
}

interface SealParts {
  readonly keys: KeyRing;
  readonly randomBytes: (count: number) => Uint8Array;
  /** Separates values: one for another purpose can't be opened. Changes with the type of the value. */
  readonly purpose: string;
}

/** Seal for one purpose: JSON, compressed, by AES-256-GCM. */
export function createSeal<T extends object>({ keys, randomBytes, purpose }: SealParts): Seal<T> {
  const derived = new Map<number, Buffer>();
  const keyOf = async (version: number): Promise<Buffer | undefined> => {
    const own = derived.get(version);
    if (own !== undefined) return own;
    const key = await keys.find(version);
    if (key === undefined) return undefined;
    const made = derive(key, purpose);
    derived.set(version, made);
    return made;
  };
  return {
    async seal(value) {
      const key = await keyOf(keys.current);
      if (key === undefined) throw new SecretsUnavailable();
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(CIPHER, key, iv);
      const text = Buffer.concat([cipher.update(deflateRawSync(JSON.stringify(value))), cipher.final()]);
      return `${keys.current}.${Buffer.concat([iv, cipher.getAuthTag(), text]).toString("base64url")}`;
    },
    async open(text) {
      const [, version, sealed] = SEALED.exec(text) ?? [];
      if (version === undefined || sealed === undefined) return undefined;
      const key = await keyOf(Number(version));
      return key && opened<T>(key, Buffer.from(sealed, "base64url"));
    },
  };
}

function opened<T>(key: Buffer, bytes: Buffer): T | undefined {
  const [iv, tag] = [bytes.subarray(0, IV_BYTES), bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES)];
  const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES }).setAuthTag(tag);
  try {
    const packed = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
    return JSON.parse(inflateRawSync(packed, { maxOutputLength: MAX_TEXT_BYTES }).toString());
  } catch {
    // Sealed by another key, or changed on the way.
    return undefined;
  }
}

const derive = (key: Sensitive, purpose: string) =>
  Buffer.from(hkdfSync("sha256", key.reveal(), "", `console ${purpose}`, 32));
