import { DAY_MS } from "../durations.ts";
import { CREATION_MARK_ANNOTATION } from "../group.ts";
import type { EphemeralEnvironment } from "./ephemeral-environment.ts";

/**
 * Identifies the request that created an environment, in its annotation, so that a repeated request finds it. Both
 * parts are hashes.
 */
export interface IdempotencyRecord {
  /** Hash of the caller and its idempotency key. */
  readonly key: string;
  readonly request: string;
}

const REMEMBERED_MS = DAY_MS;

/** Annotations of a new environment. */
export function markAnnotations({ key, request }: IdempotencyRecord): Record<string, string> {
  return { [CREATION_MARK_ANNOTATION]: `${key}.${request}` };
}

/** Record of the creating request; `undefined` without a key. */
export function creationMark({ metadata }: EphemeralEnvironment): IdempotencyRecord | undefined {
  const [key, request, ...rest] = metadata.annotations?.[CREATION_MARK_ANNOTATION]?.split(".") ?? [];
  return key && request && rest.length === 0 ? { key, request } : undefined;
}

/** True when a remembered request with this key created the environment. */
export function answersKey(environment: EphemeralEnvironment, key: string, now: Date): boolean {
  const ageMs = now.getTime() - Date.parse(environment.metadata.creationTimestamp);
  return creationMark(environment)?.key === key && ageMs < REMEMBERED_MS;
}
