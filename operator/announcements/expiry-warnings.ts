import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { plannedEnd } from "../../crds/environment/lifetime.ts";
import type { Announced } from "../../crds/notifications/announced.schema.ts";
import type { Transition, TransitionContext } from "./transition.ts";

const HOUR_MS = 3_600_000;

/**
 * The warning that is due before the expiry, the last one only. What is due already when an expiry is first seen is left
 * out: who has just made or extended the environment knows.
 */
export function expiryTransition(
  environment: EphemeralEnvironment,
  announced: Announced,
  { now, warningHours }: TransitionContext,
): Transition | undefined {
  if (warningHours.length === 0 || environment.status?.expiresAt === undefined) return undefined;
  const expiry = plannedEnd(environment);
  const at = expiry.toISOString();
  const [due] = warningHours.filter((hours) => warningMs(expiry, hours) <= now.getTime()).sort((a, b) => a - b);
  const isKnown = announced.expiry?.at === at;
  const isOver = due === undefined || due >= (announced.expiry?.hours ?? Number.POSITIVE_INFINITY);
  if (isKnown && (isOver || environment.spec.protected)) return undefined;
  const next = { ...announced, expiry: { at, ...(due === undefined ? {} : { hours: due }) } };
  if (!isKnown || due === undefined || expiry <= now) return { about: [], announced: next };
  return { event: "expiry", about: [environment.metadata.uid, "expiry", at, String(due)], announced: next };
}

/** Milliseconds until the next warning; `undefined` when there is none ahead. */
export function nextWarningInMs(
  environment: EphemeralEnvironment,
  { now, warningHours }: TransitionContext,
): number | undefined {
  if (environment.spec.protected) return undefined;
  const expiry = plannedEnd(environment);
  const ahead = warningHours.map((hours) => warningMs(expiry, hours) - now.getTime()).filter((ms) => ms > 0);
  return ahead.length === 0 ? undefined : Math.min(...ahead);
}

const warningMs = (expiry: Date, hours: number) => expiry.getTime() - hours * HOUR_MS;
