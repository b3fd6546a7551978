import type { EphemeralEnvironment, Phase } from "../../../../crds/environment/ephemeral-environment.ts";
import { shownPhase } from "../../../../crds/environment/phase.ts";
import { sleepState } from "../../../../crds/environment/sleep.ts";
import type { SleepStatus } from "../../../../crds/sleep.schema.ts";
import type { ObjectCache } from "../../../kit/cache/object-cache.ts";
import type { EnvironmentPage, EnvironmentQuery, EnvironmentRights } from "../../../ports/api/environments.ts";

interface Row extends EnvironmentRights {
  readonly environment: EphemeralEnvironment;
  readonly name: string;
  readonly phase: Phase;
  readonly sleep: SleepStatus["state"];
  readonly createdMs: number;
}

/**
 * Environments of a cache in list order, kept up to date by its changes.
 *
 * A search of ten thousand blocks all other requests. Its cost is memory access, not comparison: an environment is a
 * dozen objects, spread over the heap. So a query reads one small object of each.
 */
export class EnvironmentDirectory {
  readonly #rows: Row[];

  /** @param cache outlives the directory: they end with the process. */
  constructor(cache: Pick<ObjectCache<EphemeralEnvironment>, "list" | "subscribe">) {
    this.#rows = cache.list().sort(inListOrder).map(rowOf);
    cache.subscribe((_key, current, previous) => {
      if (current !== undefined) this.#replace(current, [rowOf(current)]);
      else if (previous !== undefined) this.#replace(previous, []);
    });
  }

  page(query: EnvironmentQuery): EnvironmentPage {
    const { offset = 0, limit = Number.POSITIVE_INFINITY } = query;
    const found = this.#rows.filter((row) => fits(row, query));
    return { items: found.slice(offset, offset + limit).map(({ environment }) => environment), total: found.length };
  }

  /** Replaces the environment's row, of whichever version, by these. */
  #replace(environment: EphemeralEnvironment, rows: readonly Row[]): void {
    const place = this.#placeOf(environment);
    const there = this.#rows[place]?.environment;
    const isThere = there !== undefined && inListOrder(there, environment) === 0;
    this.#rows.splice(place, isThere ? 1 : 0, ...rows);
  }

  /** Index of the first row that does not come before the environment: a binary search. */
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
    sleep: sleepState(environment),
    createdMs: Date.parse(metadata.creationTimestamp),
    ...(spec.owner && { owner: spec.owner }),
    ...(spec.access && { access: spec.access }),
  };
}

function fits(row: Row, query: EnvironmentQuery): boolean {
  const { isVisible, search = "", phase, sleep, createdFromMs, createdBeforeMs } = query;
  if (phase !== undefined && row.phase !== phase) return false;
  if (sleep !== undefined && row.sleep !== sleep) return false;
  if (createdFromMs !== undefined && row.createdMs < createdFromMs) return false;
  if (createdBeforeMs !== undefined && row.createdMs >= createdBeforeMs) return false;
  return row.name.includes(search) && isVisible(row);
}

/** List order, newest first, for `sort`. Kubernetes' timestamps have one form, so they compare as texts. */
function inListOrder({ metadata: one }: EphemeralEnvironment, { metadata: other }: EphemeralEnvironment): number {
  if (one.creationTimestamp !== other.creationTimestamp)
    return one.creationTimestamp < other.creationTimestamp ? 1 : -1;
  if (one.name === other.name) return 0;
  return one.name < other.name ? -1 : 1;
}
