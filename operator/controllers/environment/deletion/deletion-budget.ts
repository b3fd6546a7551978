import type { Settings } from "../../../../config/settings.ts";
import { CONFIRM_DELETION_ANNOTATION } from "../../../../crds/group.ts";

/** How many of `total` objects may plausibly be deleted at once: a share of them, or at least a number. */
export function mostAtOnce({ share, atLeast }: Settings["sweep"]["breaker"], total: number): number {
  return Math.max(atLeast, Math.floor(share * total));
}

/** Whether an admin has confirmed a deletion that the budget blocks. */
export function isConfirmed({ metadata }: { metadata: { annotations?: Readonly<Record<string, string>> } }): boolean {
  return metadata.annotations?.[CONFIRM_DELETION_ANNOTATION] === "true";
}
