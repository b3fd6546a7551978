import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import type { ObjectCache } from "../../../kit/cache/object-cache.ts";
import type { EnvironmentPage, EnvironmentQuery } from "../../../ports/facade/environments.ts";
import { DirectoryBlock, inListOrder } from "./directory-block.ts";
import { partitionPoint } from "./partition-point.ts";

/** Environments in a block, at most. A change makes one block's columns anew; more blocks make a search longer. */
const BLOCK_SIZE = 256;

/** The part of the cache that is used. */
type Source = Pick<ObjectCache<EphemeralEnvironment>, "list" | "subscribe">;

/**
 * The environments of a cache in the order of a list, which the changes of the cache keep up to date.
 *
 * All other requests wait while ten thousand are searched. That takes long not because of comparisons but because of
 * memory: an environment is a dozen objects, spread over the heap. So the fields that queries use are kept side by side.
 */
export class EnvironmentDirectory {
  readonly #blockSize: number;
  /** In order, none of them empty. */
  readonly #blocks: DirectoryBlock[];

  /** @param cache outlives the directory: they end with the process. */
  constructor(cache: Source, blockSize = BLOCK_SIZE) {
    this.#blockSize = blockSize;
    // Half full, as blocks are that were split.
    this.#blocks = inBlocks(cache.list().sort(inListOrder), blockSize >> 1);
    cache.subscribe((_key, current, previous) => {
      if (current !== undefined) this.#put(current);
      else if (previous !== undefined) this.#remove(previous);
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

  #put(environment: EphemeralEnvironment): void {
    const at = this.#blockFor(environment);
    const block = this.#blocks[at];
    if (block === undefined) {
      this.#blocks.push(new DirectoryBlock([environment]));
      return;
    }
    block.put(environment);
    if (block.size > this.#blockSize) this.#blocks.splice(at + 1, 0, block.split());
  }

  #remove(environment: EphemeralEnvironment): void {
    const at = this.#blockFor(environment);
    const block = this.#blocks[at];
    block?.remove(environment);
    if (block?.size === 0) this.#blocks.splice(at, 1);
  }

  /** Of the block that holds it or is to hold it: the last one that does not begin after it, else the first. */
  #blockFor(environment: EphemeralEnvironment): number {
    const mayHold = (at: number) => this.#blocks[at]?.beginsAfter(environment) === false;
    return Math.max(0, partitionPoint(this.#blocks.length, mayHold) - 1);
  }
}

function inBlocks(environments: readonly EphemeralEnvironment[], size: number): DirectoryBlock[] {
  const count = Math.ceil(environments.length / size);
  return Array.from({ length: count }, (_, at) => new DirectoryBlock(environments.slice(at * size, (at + 1) * size)));
}
