import type { Summary } from "./summary.ts";

/** A process stores what it counted so often: a kill loses no more. */
export const STORED_EVERY_MS = 10_000;

/** Counts of a few minutes, by the counter's name. */
export type SlotCounts = Readonly<Record<string, number>>;

/** What was counted on a day, by all replicas together. */
export interface RollupContent {
  /** By the begin of the slot in UTC, such as `09:35`. */
  readonly slots: Readonly<Record<string, SlotCounts>>;
  /** The last batch of each process that wrote lately, so that none is added twice. */
  readonly writers: Readonly<Record<string, { readonly batch: number; readonly at: string }>>;
  /** What became of environments on that day (UTC); absent until the day is over and summed up. */
  readonly summary?: Summary | undefined;
}

/** A day's rollup as it is stored. */
export interface StoredRollup extends RollupContent {
  /** In UTC, such as `2026-11-23`. */
  readonly day: string;
  /** Opaque: what a change has to be based on. */
  readonly version: string;
}

/**
 * Keeps what requests and reconciles were counted, one rollup a day.
 *
 * Every method throws the kit's KubeError when the API server can't be asked or refuses.
 */
export interface RollupStore {
  /** By a fresh read; `undefined` before the first. */
  find(day: string): Promise<StoredRollup | undefined>;
  /** Makes the day's rollup. @returns false when there is one meanwhile */
  create(day: string, content: RollupContent): Promise<boolean>;
  /** Replaces what was read. @returns false when it changed, or went, meanwhile */
  replace(former: StoredRollup, content: RollupContent): Promise<boolean>;
  /** Removes what was read, unless it changed meanwhile. */
  remove(former: StoredRollup): Promise<void>;
  /** All, by a fresh read. */
  list(signal: AbortSignal): Promise<readonly StoredRollup[]>;
}
