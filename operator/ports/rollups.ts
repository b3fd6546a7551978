import type { Summary } from "../../crds/usage/period-summary.ts";

/** Interval at which a process stores its counts: a kill loses no more. */
export const STORED_EVERY_MS = 10_000;

/** Counts of a few minutes, by counter name. */
export type SlotCounts = Readonly<Record<string, number>>;

/** Counts of a day, of all replicas together. */
export interface RollupContent {
  /** Counts by the start of the slot in UTC, such as `09:35`. */
  readonly slots: Readonly<Record<string, SlotCounts>>;
  /** Last batch of each recent writer, so that none is added twice. */
  readonly writers: Readonly<Record<string, { readonly batch: number; readonly at: string }>>;
  /** Usage of environments on that day (UTC); absent until the day is over and summed up. */
  readonly summary?: Summary | undefined;
}

/** A stored day. */
export interface StoredRollup extends RollupContent {
  /** Day in UTC, such as `2026-11-23`. */
  readonly day: string;
  /** Opaque precondition of a change. */
  readonly version: string;
}

/**
 * Store of request and reconcile counts, one rollup a day.
 *
 * Methods throw the kit's KubeError.
 */
export interface RollupStore {
  /** A fresh read; `undefined` before the first. */
  find(day: string): Promise<StoredRollup | undefined>;
  /** Creates the day's rollup. @returns false when one exists already */
  create(day: string, content: RollupContent): Promise<boolean>;
  /** Replaces the version read. @returns false when it changed or went meanwhile */
  replace(former: StoredRollup, content: RollupContent): Promise<boolean>;
  /** Removes the version read, unless it changed. */
  remove(former: StoredRollup): Promise<void>;
  list(signal: AbortSignal): Promise<readonly StoredRollup[]>;
}
