import type { EphemeralEnvironment } from "./ephemeral-environment.ts";

export const TTL_DEFAULT_HOURS = 24;
export const TTL_MAX_HOURS = 168;
const HOUR_MS = 3_600_000;
/** Neither a lowered TTL nor a lifted protection ends an environment sooner than this after the change. */
export const REPRIEVE_MS = 15 * 60_000;

type Lived = Pick<EphemeralEnvironment, "metadata" | "spec" | "status">;

/** The TTL in force: what the spec says, else what was settled at creation, else the default. */
export function ttlHours({ spec, status }: Lived): number {
  return spec.ttlHours ?? status?.ttlHours ?? TTL_DEFAULT_HOURS;
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
 * The reprieve to store when a change makes an environment go at once (or very soon): a TTL that another door than the
 * REST interface lowered, or a protection that was lifted after the time was up. Stored once, so that the moment never
 * moves again; `undefined` when nothing of the kind happened.
 */
export function reprieve(environment: Lived, now: Date): Date | undefined {
  if (!isShortened(environment)) return undefined;
  const earliest = now.getTime() + REPRIEVE_MS;
  return expiresAt(environment).getTime() < earliest ? new Date(earliest) : undefined;
}

/** Whether the environment ends sooner than it would have when it was looked at last. */
function isShortened(environment: Lived): boolean {
  const { spec, status } = environment;
  if (spec.protected) return false;
  return status?.protected === true || ttlHours(environment) < (status?.ttlHours ?? 0);
}
