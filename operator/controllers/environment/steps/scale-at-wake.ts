import type { Settings } from "../../../../config/settings.ts";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { isScaledToZero } from "../../../../crds/environment/sleep.ts";
import type { DesiredApplication } from "../../../ports/deployer.ts";
import type { WorkloadScaler } from "../../../ports/workload-scaler.ts";
import { awakeWorkloads, valuesWhileSuspended } from "../desired/awake-workloads.ts";
import { hashOfDesired } from "../desired/values.ts";
import { isFirstDataPending, type PlanSources, planInput } from "../plan-input.ts";

/** The settings and ports of a wake. */
export interface WakeDependencies extends PlanSources {
  readonly settings: Settings;
  readonly workloadScaler: WorkloadScaler;
}

/**
 * Starts the pods of an environment that wakes at once: the deployer has to render the chart first, which takes about as
 * long as the start of a pod. The application must have its new values before: with the former ones the deployer would
 * take the pods away again.
 */
export async function scaleAtWake(
  environment: EphemeralEnvironment,
  { chart, values }: DesiredApplication,
  dependencies: WakeDependencies,
): Promise<void> {
  const { settings, workloadScaler } = dependencies;
  if (environment.spec.suspended || !isScaledToZero(environment.status)) return;
  const input = planInput(environment, dependencies);
  // Pods of the former database would start.
  if (isFirstDataPending(input, settings)) return;
  const workloads = awakeWorkloads(input, values, settings);
  if (workloads.length === 0) return;
  // After any other change, the workloads are not yet those that are desired.
  const isWakeAlone = environment.status?.desiredHash === hashOfDesired(chart, valuesWhileSuspended(input, settings));
  if (isWakeAlone) await workloadScaler.scaleFromZero(environment.metadata, workloads);
}
