/**
 * `urgent` is for reconciles that are due at a certain moment and short. `high` is for what a user or a change waits for,
 * `low` for start-up, requeues, retries and deletions. Keys of one priority are first in, first out. `urgent` comes first,
 * then `high`, except that every fifth key is a waiting `low` one: neither starves.
 */
export type Priority = (typeof PRIORITIES)[number];

/** The first before all others. */
export const PRIORITIES = ["urgent", "high", "low"] as const;
