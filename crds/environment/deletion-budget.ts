import { CONFIRM_DELETION_ANNOTATION } from "../group.ts";

/** Plausible number of simultaneous deletions among `total` objects: a share of them, or at least a number. */
export function mostAtOnce(
  { share, atLeast }: { readonly share: number; readonly atLeast: number },
  total: number,
): number {
  return Math.max(atLeast, Math.floor(share * total));
}

/** True when an admin has confirmed a deletion that the budget blocks. */
export function isConfirmed({ metadata }: { metadata: { annotations?: Readonly<Record<string, string>> } }): boolean {
  return metadata.annotations?.[CONFIRM_DELETION_ANNOTATION] === "true";
}
