import { findCondition } from "../../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { elapsedMs } from "../../kit/time/clock.ts";
import type { NamedObject } from "../../ports/deployer.ts";
import type { StepContext } from "./step.ts";

/** So long pods may take to be deleted, or to end, after the chart was scaled to zero. */
const GRACE_MS = 15_000;
/** What has no pods by then is not looked at any more: thousands of environments may be asleep. */
const LOOK_MS = 120_000;
/** What goes on is looked at again: it may have ended, without any change that is watched. */
const RECHECK_MS = 300_000;

interface Running {
  readonly running: readonly NamedObject[];
  /** When to look again, in milliseconds; infinite where that is not needed. */
  readonly recheckMs: number;
}

/** What keeps pods in an environment that is suspended and synced: its chart gives it some all the same. */
export async function runningWhileSuspended(
  environment: EphemeralEnvironment,
  { clock, pods }: Pick<StepContext, "clock" | "pods">,
): Promise<Running> {
  const none = { running: [], recheckMs: Infinity };
  if (!environment.spec.suspended) return none;
  const asleepMs = elapsedMs(asleepSince(environment, clock.now()), clock.now());
  if (asleepMs > LOOK_MS && !isNamed(environment)) return none;
  const found = await pods.running(environment.metadata);
  if (found.length === 0) return none;
  return asleepMs < GRACE_MS
    ? { running: [], recheckMs: GRACE_MS - asleepMs }
    : { running: found, recheckMs: RECHECK_MS };
}

/** Since when it is suspended, and its application as it is now; that it has begun to be is not stored yet. */
function asleepSince({ status }: EphemeralEnvironment, now: Date): Date {
  const times = (["Suspended", "ApplicationSynced"] as const).map((type) => {
    const condition = findCondition(status?.conditions, type);
    return condition?.status === "True" ? Date.parse(condition.lastTransitionTime) : now.getTime();
  });
  return new Date(Math.max(...times));
}

const isNamed = ({ status }: EphemeralEnvironment) =>
  findCondition(status?.conditions, "ResourcesHealthy")?.reason === "KeepsRunning";
