import { CONFIRM_DELETION_ANNOTATION } from "../../../crds/group.ts";

/** How many at once are too many to be meant: more than both say. */
export interface DeletionBudget {
  /** Of all environments there are. */
  readonly share: number;
  readonly atLeast: number;
}

/** The most that may go at once, of so many in all. */
export function mostAtOnce({ share, atLeast }: DeletionBudget, total: number): number {
  return Math.max(atLeast, Math.floor(share * total));
}

/** Whether an admin has looked at what a breaker holds back, and lets it go. */
export function isConfirmed({ metadata }: { metadata: { annotations?: Readonly<Record<string, string>> } }): boolean {
  return metadata.annotations?.[CONFIRM_DELETION_ANNOTATION] === "true";
}
