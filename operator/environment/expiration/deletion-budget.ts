import { CONFIRM_DELETION_ANNOTATION } from "../../../crds/group.ts";

/** How many deletions at once are plausible: the larger of both limits. */
export interface DeletionBudget {
  /** The share of all objects. */
  readonly share: number;
  /** Below this number nothing is blocked. */
  readonly atLeast: number;
}

/** How many of `total` objects may be deleted at once. */
export function mostAtOnce({ share, atLeast }: DeletionBudget, total: number): number {
  return Math.max(atLeast, Math.floor(share * total));
}

/** Whether an admin has confirmed a deletion that the budget blocks. */
export function isConfirmed({ metadata }: { metadata: { annotations?: Readonly<Record<string, string>> } }): boolean {
  return metadata.annotations?.[CONFIRM_DELETION_ANNOTATION] === "true";
}
