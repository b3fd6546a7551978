import { CREATION_MARK_ANNOTATION } from "../group.ts";
import type { EphemeralEnvironment } from "./ephemeral-environment.ts";

/**
 * Identifies the request that created an environment, in an annotation on it: a repeated request finds what the first
 * one created. Both parts are hashes.
 */
export interface IdempotencyRecord {
  /** Hash of the caller and its idempotency key. */
  readonly key: string;
  /** Hash of the request. */
  readonly request: string;
}

/** Time after which a key may be used again. */
const REMEMBERED_MS = 24 * 3_600_000;

/** Annotations of a new environment. */
export function markAnnotations({ key, request }: IdempotencyRecord): Record<string, string> {
  return { [CREATION_MARK_ANNOTATION]: `${key}.${request}` };
}

/** Record of the request that created the environment; `undefined` when it had no key. */
export function creationMark({ metadata }: Pick<EphemeralEnvironment, "metadata">): IdempotencyRecord | undefined {
  const [key, request, ...rest] = metadata.annotations?.[CREATION_MARK_ANNOTATION]?.split(".") ?? [];
  return key && request && rest.length === 0 ? { key, request } : undefined;
}

/** True when a remembered request with this key created the environment. */
export function answersKey(environment: EphemeralEnvironment, key: string, now: Date): boolean {
  const ageMs = now.getTime() - Date.parse(environment.metadata.creationTimestamp);
  return creationMark(environment)?.key === key && ageMs < REMEMBERED_MS;
}
