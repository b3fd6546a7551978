import type { KubeObject } from "../client/objects.ts";
import { isNewer } from "./resource-version.ts";

/** Deletions remembered until the next list; the oldest go first. */
const MOST_ENDS = 8_192;
/** Older than every version of the API server. */
const NO_VERSION = "0";

/** Delivered objects and their versions: a repeated or late event never brings back an older state. */
export class DeliveredObjects<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  /** Key → the version of its object's end, since the last list. */
  readonly #ends = new Map<string, string>();
  /** Objects missing from the last list had ended by its version. */
  #listVersion = NO_VERSION;

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  entries(): Iterable<[string, T]> {
    return this.#objects;
  }

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

  /** Records a list of this version: it holds even when it is older than the previous state. */
  listed(version: string): void {
    this.#ends.clear();
    this.#listVersion = version;
  }

  #versionOf(key: string): string {
    return this.#objects.get(key)?.metadata.resourceVersion ?? this.#ends.get(key) ?? this.#listVersion;
  }
}
