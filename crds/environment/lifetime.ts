import type { EphemeralEnvironment } from "./ephemeral-environment.ts";
import { TTL_DEFAULT_HOURS } from "./ttl.ts";

const HOUR_MS = 3_600_000;
/** Neither a lowered TTL nor a lifted protection ends an environment sooner than this after the change. */
const REPRIEVE_MS = 15 * 60_000;

type Lived = Pick<EphemeralEnvironment, "metadata" | "spec" | "status">;

/** The TTL in force, in hours: what the spec says, else what was settled at creation, else the default. */
export function ttlHours({ spec, status }: Lived, defaultHours = TTL_DEFAULT_HOURS): number {
  return spec.ttlHours ?? status?.ttlHours ?? defaultHours;
}

/** `created_at` + TTL, before and after an extension alike. */
export function expiresAt(environment: Lived): Date {
  return expiryFor(environment, ttlHours(environment));
}

/** When the environment would expire with another TTL. */
export function expiryFor({ metadata }: Lived, hours: number): Date {
  return new Date(Date.parse(metadata.creationTimestamp) + hours * HOUR_MS);
}

/** The moment from which the environment may be deleted; `undefined` when it never expires because it is protected. */
export function deletableFrom(environment: Lived): Date | undefined {
  if (environment.spec.protected) return undefined;
  const notBefore = environment.status?.expiryNotBefore;
  const expiry = expiresAt(environment);
  return notBefore === undefined ? expiry : new Date(Math.max(expiry.getTime(), Date.parse(notBefore)));
}

/** Whether the environment's time is up by the given clock. */
export function isExpired(environment: Lived, now: Date): boolean {
  const from = deletableFrom(environment);
  return from !== undefined && from.getTime() <= now.getTime();
}

/**
 * The grace period to store when a change ends an environment at once (or very soon): a TTL that another door than the
 * REST interface lowered, or a protection that was lifted after the time was up. It ends 15 minutes after the change
 * was seen, or when the environment would have gone without that change, whichever is sooner. So no change that takes time
 * away ever adds any, however often it is repeated. `undefined` when nothing of the kind happened.
 */
export function reprieve(environment: Lived, now: Date): Date | undefined {
  const [formerly, from] = [formerlyDeletableFrom(environment), deletableFrom(environment)];
  if (formerly === undefined || from === undefined || formerly <= now.getTime()) return undefined;
  const earliest = Math.min(now.getTime() + REPRIEVE_MS, formerly);
  return from.getTime() < earliest ? new Date(earliest) : undefined;
}

/** In milliseconds, from when it could be deleted when it was looked at last; `undefined` when it never was. */
function formerlyDeletableFrom(environment: Lived): number | undefined {
  const { ttlHours: hours, protected: wasProtected, expiryNotBefore = 0 } = environment.status ?? {};
  if (wasProtected) return Number.POSITIVE_INFINITY;
  if (hours === undefined) return undefined;
  return Math.max(expiryFor(environment, hours).getTime(), new Date(expiryNotBefore).getTime());
}
