import type { Rollup } from "../../crds/usage/rollup.ts";

/** A stored day. */
export interface StoredRollup extends Rollup {
  /** Day in UTC, such as `2026-11-23`. */
  readonly day: string;
  /** Opaque precondition of a change. */
  readonly version: string;
}

/** Store of one rollup a day. Methods throw the kit's KubeError. */
export interface RollupStore {
  /** A fresh read; `undefined` before the first. */
  find(day: string): Promise<StoredRollup | undefined>;
  /** Creates the day's rollup. @returns false when one exists already */
  create(day: string, content: Rollup): Promise<boolean>;
  /** Replaces the version read. @returns false when it changed or went meanwhile */
  replace(former: StoredRollup, content: Rollup): Promise<boolean>;
  /** Removes the version read, unless it changed. */
  remove(former: StoredRollup): Promise<void>;
  list(signal: AbortSignal): Promise<readonly StoredRollup[]>;
}

/** Rollups of all days, from this process's cache. */
export interface Rollups {
  /** A number that changes with the sum of any day. */
  readonly summaryRevision: number;
  /** All days, unordered. A list that is given again has not changed. */
  days(): readonly Pick<StoredRollup, "day" | "slots" | "summary">[];
}
