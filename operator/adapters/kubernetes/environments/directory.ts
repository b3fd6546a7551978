import type { EphemeralEnvironment, Phase } from "../../../../crds/environment/ephemeral-environment.ts";
import { shownPhase } from "../../../../crds/environment/phase.ts";
import type { ObjectCache } from "../../../kit/cache/object-cache.ts";
import type { EnvironmentPage, EnvironmentQuery, EnvironmentRights } from "../../../ports/facade/environments.ts";

/** The part of the cache that is used. */
type Source = Pick<ObjectCache<EphemeralEnvironment>, "list" | "subscribe">;

/** An environment with the fields that queries use. */
interface Row extends EnvironmentRights {
  readonly environment: EphemeralEnvironment;
  readonly name: string;
  readonly phase: Phase;
  readonly createdMs: number;
}

/**
 * The environments of a cache in the order of a list, which the changes of the cache keep up to date.
 *
 * All other requests wait while ten thousand are searched. That takes long not because of comparisons but because of
 * memory: an environment is a dozen objects, spread over the heap. So a query reads one small object of each.
 */
export class EnvironmentDirectory {
  /** In order. */
  readonly #rows: Row[];

  /** @param cache outlives the directory: they end with the process. */
  constructor(cache: Source) {
    this.#rows = cache.list().sort(inListOrder).map(rowOf);
    cache.subscribe((_key, current, previous) => {
      if (current !== undefined) this.#replace(current, [rowOf(current)]);
      else if (previous !== undefined) this.#replace(previous, []);
    });
  }

  /** See `Environments.page`. */
  page(query: EnvironmentQuery): EnvironmentPage {
    const { offset = 0, limit = Number.POSITIVE_INFINITY } = query;
    const found = this.#rows.filter((row) => fits(row, query));
    return { items: found.slice(offset, offset + limit).map(({ environment }) => environment), total: found.length };
  }

  /** Puts rows in the place of the environment, whichever version of it is there, if any. */
  #replace(environment: EphemeralEnvironment, rows: readonly Row[]): void {
    const place = this.#placeOf(environment);
    const there = this.#rows[place]?.environment;
    const isThere = there !== undefined && inListOrder(there, environment) === 0;
    this.#rows.splice(place, isThere ? 1 : 0, ...rows);
  }

  /** Of the first row that does not come before the environment: a binary search. */
  #placeOf(environment: EphemeralEnvironment): number {
    let [low, high] = [0, this.#rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (inListOrder((this.#rows[middle] as Row).environment, environment) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function rowOf(environment: EphemeralEnvironment): Row {
  const { metadata, spec } = environment;
  return {
    environment,
    name: metadata.name,
    phase: shownPhase(environment),
    createdMs: Date.parse(metadata.creationTimestamp),
    ...(spec.owner && { owner: spec.owner }),
    ...(spec.access && { access: spec.access }),
  };
}

function fits(row: Row, { isVisible, search = "", phase, createdFromMs, createdBeforeMs }: EnvironmentQuery): boolean {
  if (phase !== undefined && row.phase !== phase) return false;
  if (createdFromMs !== undefined && row.createdMs < createdFromMs) return false;
  if (createdBeforeMs !== undefined && row.createdMs >= createdBeforeMs) return false;
  return row.name.includes(search) && isVisible(row);
}

/** The order of a list, the newest first, for `sort`. All of Kubernetes's timestamps have one form, so that they compare as texts. */
function inListOrder({ metadata: one }: EphemeralEnvironment, { metadata: other }: EphemeralEnvironment): number {
  if (one.creationTimestamp !== other.creationTimestamp)
    return one.creationTimestamp < other.creationTimestamp ? 1 : -1;
  if (one.name === other.name) return 0;
  return one.name < other.name ? -1 : 1;
}
