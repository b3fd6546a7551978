import { CREATION_MARK_ANNOTATION } from "../group.ts";
import type { EphemeralEnvironment } from "./ephemeral-environment.ts";

/**
 * What tells the request that made an environment from all others, kept on the environment: so that the same request,
 * asked again because its answer got lost, finds what it made. Neither part can be turned back into what was sent.
 */
export interface IdempotencyRecord {
  /** Of the caller and the key that the caller chose. */
  readonly key: string;
  /** Of what was asked for. */
  readonly request: string;
}

/** So long is a request remembered; after that its key is as good as new. */
const REMEMBERED_MS = 24 * 3_600_000;

/** The annotations with which an environment is made. */
export function markAnnotations({ key, request }: IdempotencyRecord): Record<string, string> {
  return { [CREATION_MARK_ANNOTATION]: `${key}.${request}` };
}

/** The mark of the request that made it; `undefined` when that had none. */
export function creationMark({ metadata }: Pick<EphemeralEnvironment, "metadata">): IdempotencyRecord | undefined {
  const [key, request, ...rest] = metadata.annotations?.[CREATION_MARK_ANNOTATION]?.split(".") ?? [];
  return key && request && rest.length === 0 ? { key, request } : undefined;
}

/** Whether the request with that key made it, and is still remembered. */
export function answersKey(environment: EphemeralEnvironment, key: string, now: Date): boolean {
  const ageMs = now.getTime() - Date.parse(environment.metadata.creationTimestamp);
  return creationMark(environment)?.key === key && ageMs < REMEMBERED_MS;
}
