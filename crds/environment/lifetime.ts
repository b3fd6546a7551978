import { HOUR_MS } from "../durations.ts";
import { TTL_DEFAULT_HOURS } from "../schema.ts";
import type { EphemeralEnvironment } from "./ephemeral-environment.ts";

/** Grace period after a lowered TTL or a removed protection. */
const GRACE_PERIOD_MS = 15 * 60_000;
/** Hours from the expiry to the end of a protection that is not a maintainer's. */
const PROTECTION_HOURS = 168;

type Lived = Pick<EphemeralEnvironment, "metadata" | "spec" | "status">;

/** Effective TTL in hours: the spec's, else the one in the status, else the default. */
export function ttlHours({ spec, status }: Lived, defaultHours = TTL_DEFAULT_HOURS): number {
  return spec.ttlHours ?? status?.ttlHours ?? defaultHours;
}

/** `created_at` + TTL, also after an extension; an environment that was not built at first counts from its building. */
export function expiresAt(environment: Lived): Date {
  return expiryFor(environment, ttlHours(environment));
}

/** Expiry of the environment with this TTL, to the second, as in the links of warnings. */
export function expiryFor({ metadata, status }: Lived, hours: number): Date {
  const beginSeconds = Date.parse(status?.manifest?.builtFrom ?? metadata.creationTimestamp) / 1_000;
  return new Date(Math.floor(beginSeconds) * 1_000 + hours * HOUR_MS);
}

/** True when it is not built, because the former environment of the same manifest has ended for good. */
export function isRefusedReturn({ status }: Lived): boolean {
  return status?.manifest?.refusedAfter !== undefined;
}

/** End of a protection that is not a maintainer's. */
export function protectionLimit(environment: Lived): Date {
  return expiryFor(environment, ttlHours(environment) + PROTECTION_HOURS);
}

/**
 * True as long as the API server refuses the deletion, also after the protection's end until the operator removes it.
 */
export function isProtected({ spec }: Lived): boolean {
  return spec.protected === true || spec.protectedUntil !== undefined;
}

/**
 * Expiry, or a later end of a protection, also during the deletion: the operator removes it from the spec just before.
 */
export function plannedEnd(environment: Lived): Date {
  const { metadata, spec, status } = environment;
  const removed = metadata.deletionTimestamp === undefined ? undefined : status?.protectedUntil;
  return latest(expiresAt(environment), spec.protectedUntil ?? removed);
}

/**
 * Moment from which the environment may be deleted; `undefined` without an expiry: protected without end, or not built.
 */
export function deletableFrom(environment: Lived): Date | undefined {
  if (environment.spec.protected || isRefusedReturn(environment)) return undefined;
  return latest(plannedEnd(environment), environment.status?.expiryNotBefore);
}

/** True when the environment is expired at this time. */
export function isExpired(environment: Lived, now: Date): boolean {
  const from = deletableFrom(environment);
  return from !== undefined && from.getTime() <= now.getTime();
}

/** True when it was expired at its deletion, to the second; a deletion states no reason. */
export function isEndedByExpiry(environment: Lived, deletedAt: string): boolean {
  return isExpired(environment, new Date(Date.parse(deletedAt) + 999));
}

/**
 * End of the grace period of a change that would make the environment expire within 15 minutes: a TTL lowered with
 * kubectl, or a protection removed after the expiry. 15 minutes after the change was observed, or the expiry without
 * the change if that is sooner, so that repeated changes add no time. `undefined` without such a change.
 */
export function gracePeriodEnd(environment: Lived, now: Date): Date | undefined {
  const [formerly, from] = [formerlyDeletableFrom(environment), deletableFrom(environment)];
  if (formerly === undefined || from === undefined || formerly <= now.getTime()) return undefined;
  const earliest = Math.min(now.getTime() + GRACE_PERIOD_MS, formerly);
  return from.getTime() < earliest ? new Date(earliest) : undefined;
}

/** Moment, in milliseconds, from which the last reconcile permitted the deletion; `undefined` before the first one. */
function formerlyDeletableFrom(environment: Lived): number | undefined {
  const { ttlHours: hours, protected: wasProtected, protectedUntil, expiryNotBefore } = environment.status ?? {};
  if (wasProtected) return Number.POSITIVE_INFINITY;
  if (hours === undefined) return undefined;
  return latest(expiryFor(environment, hours), protectedUntil, expiryNotBefore).getTime();
}

function latest(first: Date, ...others: readonly (string | undefined)[]): Date {
  return new Date(Math.max(first.getTime(), ...others.map((moment = "") => Date.parse(moment) || 0)));
}
