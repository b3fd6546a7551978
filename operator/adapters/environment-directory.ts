import type { EphemeralEnvironment } from "../../crds/ephemeral-environment.ts";
import type { ObjectCache } from "../kit/object-cache.ts";
import type { EnvironmentPage, EnvironmentQuery } from "../ports/environments.ts";
import { DirectoryBlock } from "./directory-block.ts";

/** Environments in a block. A change makes one block's columns anew; more blocks make a search longer. */
const BLOCK_SIZE = 256;

/** Part of the cache that is read. */
type Source = Pick<ObjectCache<EphemeralEnvironment>, "list" | "subscribe">;

/**
 * The environments of a cache in the order of a list, which the changes of the cache keep up to date.
 *
 * A list of ten thousand lets all other requests wait. What takes its time is neither comparing nor sorting but memory: an
 * environment is a dozen objects that lie anywhere. So what is asked of each is kept side by side, in blocks (`DirectoryBlock`);
 * where other work has filled the processor's caches, that is ten times as fast.
 */
export class EnvironmentDirectory {
  /** In order, none of them empty. */
  readonly #blocks: DirectoryBlock[] = [];

  /** @param cache outlives the directory: they end with the process. */
  constructor(cache: Source) {
    for (const environment of cache.list()) this.#add(environment);
    cache.subscribe((_key, current, previous) => {
      if (previous !== undefined) this.#remove(previous);
      if (current !== undefined) this.#add(current);
    });
  }

  /** See `Environments.page`. */
  page(query: EnvironmentQuery): EnvironmentPage {
    const { offset = 0, limit = Number.POSITIVE_INFINITY } = query;
    const items: EphemeralEnvironment[] = [];
    let total = 0;
    const take = (environment: EphemeralEnvironment) => {
      if (total >= offset && items.length < limit) items.push(environment);
      total += 1;
    };
    for (const block of this.#blocks) block.eachMatch(query, take);
    return { items, total };
  }

  #add(environment: EphemeralEnvironment): void {
    const at = this.#blockFor(environment);
    const block = this.#blocks[at];
    if (block === undefined) {
      this.#blocks.push(new DirectoryBlock([environment]));
      return;
    }
    block.add(environment);
    if (block.size > BLOCK_SIZE) this.#blocks.splice(at + 1, 0, block.split());
  }

  #remove(environment: EphemeralEnvironment): void {
    const at = this.#blockFor(environment);
    const block = this.#blocks[at];
    block?.remove(environment);
    if (block?.size === 0) this.#blocks.splice(at, 1);
  }

  /** Of the block that holds it or is to hold it: the last one that begins before it, else the first. */
  #blockFor(environment: EphemeralEnvironment): number {
    let [low, high] = [0, this.#blocks.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#blocks[middle]?.beginsAfter(environment)) high = middle;
      else low = middle;
    }
    return low;
  }
}
