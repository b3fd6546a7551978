import { findCondition } from "../../../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import type { ObservedApplication } from "../../../ports/deployer.ts";
import type { BackingService } from "../backing-services/backing-service.ts";
import { configurationOf } from "../configuration.ts";
import { hashOfDesired } from "../desired/values.ts";
import { type DiagnosisDependencies, diagnosePods } from "../diagnosis.ts";
import type { PlanSources } from "../plan-input.ts";
import type { Step } from "../step.ts";
import { done, waiting } from "../step-result.ts";
import { desiredApplication, mayFail } from "./application.ts";

/** Fallback for the deployer's watch. */
const RECHECK_MS = 30_000;

interface BackingServiceDependencies extends PlanSources, DiagnosisDependencies {}

/** Reports each backing service. As a part of the application it is ready while that is healthy; else its pods are read. */
export function backingServices(dependencies: BackingServiceDependencies): readonly Step[] {
  return dependencies.backingServices.map((service) => backingService(service, dependencies));
}

function backingService(service: BackingService, dependencies: BackingServiceDependencies): Step {
  return {
    condition: service.condition,
    writes: [],
    after: ["ConfigurationResolved", "IsolationReady", "SecretsReady", "SourceResolved"],

    async run(environment) {
      const configSet = configurationOf(environment, dependencies)?.spec;
      if (!service.isDesired(environment.spec, configSet)) return done("NotRequested");
      if (environment.spec.suspended) return done("Suspended");
      const desired = desiredApplication(environment, dependencies);
      const observed = dependencies.deployer.observe(desired);
      if (observed?.state === "healthy") return done("Ready");
      if (isDeployed(observed)) {
        const hash = hashOfDesired(desired.chart, desired.values);
        return podsResult(service, environment, { hash, context: dependencies });
      }
      // The state of the desired values is unknown; the running service goes on.
      if (wasReady(service, environment)) return done("Ready");
      const message = `waiting for the deployer to create the ${service.name}`;
      return waiting("Starting", message, { requeueAfterMs: RECHECK_MS });
    },
  };
}

const isDeployed = (observed: ObservedApplication | undefined) =>
  observed?.state === "progressing" || (observed?.state === "broken" && observed.problem === "DeploymentFailed");

function wasReady({ condition }: BackingService, { status }: EphemeralEnvironment): boolean {
  const former = findCondition(status?.conditions, condition);
  return former?.status === "True" && former.reason === "Ready";
}

async function podsResult(
  { name, condition }: BackingService,
  environment: EphemeralEnvironment,
  { hash, context }: { readonly hash: string; readonly context: DiagnosisDependencies },
) {
  const readiness = await context.pods.readiness(environment.metadata, name);
  if (readiness === "ready") return done("Ready");
  const message =
    readiness === "unready"
      ? `the ${name} is starting`
      : `the ${name} has no pod: if that lasts, the environment's quota leaves no room for it`;
  const observed: ObservedApplication = { state: "progressing", revision: "", message };
  const only = { component: name, condition };
  const unhealthy = { environment, hash, observed, mayFail: mayFail(environment, hash), only };
  const result = await diagnosePods(unhealthy, context);
  return result.reason === "Progressing" ? { ...result, reason: "Starting" } : result;
}
