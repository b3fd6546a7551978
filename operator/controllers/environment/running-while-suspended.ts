import { findCondition } from "../../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { elapsedMs } from "../../kit/time/clock.ts";
import type { NamedObject } from "../../ports/deployer.ts";
import type { StepContext } from "./step.ts";

/** Time for pods to end after the chart was scaled to zero. */
const GRACE_MS = 15_000;
/** Limit of checks without pods: thousands of environments may be suspended. */
const LOOK_MS = 120_000;
/** Running pods may end without a watched change. */
const RECHECK_MS = 300_000;

interface Running {
  readonly running: readonly NamedObject[];
  /** Milliseconds until the next check; infinite without one. */
  readonly recheckMs: number;
}

/** Workloads that keep pods in a suspended, synced environment. */
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

/** Start of the suspension in its current form; now if it is not stored yet. */
function asleepSince({ status }: EphemeralEnvironment, now: Date): Date {
  const times = (["Suspended", "ApplicationSynced"] as const).map((type) => {
    const condition = findCondition(status?.conditions, type);
    return condition?.status === "True" ? Date.parse(condition.lastTransitionTime) : now.getTime();
  });
  return new Date(Math.max(...times));
}

const isNamed = ({ status }: EphemeralEnvironment) =>
  findCondition(status?.conditions, "ResourcesHealthy")?.reason === "KeepsRunning";
