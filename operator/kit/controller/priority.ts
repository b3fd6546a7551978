/**
 * `urgent` is for short reconciles due at a certain moment, `high` for changes and waiting users, `low` for start-up,
 * requeues, retries and deletions. First in, first out within a priority. `urgent` comes first, then `high`, but every
 * fifth key is a waiting `low` one: neither starves.
 */
export type Priority = (typeof PRIORITIES)[number];

/** Highest first. */
export const PRIORITIES = ["urgent", "high", "low"] as const;
