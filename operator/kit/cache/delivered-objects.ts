import type { KubeObject } from "../client/objects.ts";
import { isNewer } from "./resource-version.ts";

/** Deletions that are remembered until the next list; the oldest are forgotten first. */
const MOST_ENDS = 8_192;
/** Older than every version that the API server gives. */
const NO_VERSION = "0";

/** What lists and the watch have delivered, and how new that is: a repeated or late event never brings back what is past. */
export class DeliveredObjects<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  /** Key → the version with which its object ended, since the last list. */
  readonly #ends = new Map<string, string>();
  /** What the last list does not have had ended by its version. */
  #listVersion = NO_VERSION;

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  entries(): Iterable<[string, T]> {
    return this.#objects;
  }

  /** Whether the version, or a newer one, or the end of the key's object after it, has been delivered. */
  hasReached(key: string, version: string): boolean {
    return !isNewer(version, this.#versionOf(key));
  }

  put(key: string, object: T): void {
    this.#objects.set(key, object);
    this.#ends.delete(key);
  }

  end(key: string, version: string): void {
    this.#objects.delete(key);
    this.#ends.set(key, version);
    if (this.#ends.size > MOST_ENDS) this.#ends.delete(this.#ends.keys().next().value as string);
  }

  /** A list of this version has been taken in: what it says holds, also when it is older than what was known before. */
  listed(version: string): void {
    this.#ends.clear();
    this.#listVersion = version;
  }

  #versionOf(key: string): string {
    return this.#objects.get(key)?.metadata.resourceVersion ?? this.#ends.get(key) ?? this.#listVersion;
  }
}
