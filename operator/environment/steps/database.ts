import { findCondition } from "../../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import type { ObservedApplication } from "../../ports/deployer.ts";
import { configurationOf } from "../configuration.ts";
import { DATABASE, wantsDatabase } from "../desired/database.ts";
import { wantedHash } from "../desired/values.ts";
import { diagnosedPods } from "../diagnosis.ts";
import { done, type Step, type StepContext, type StepResult, waiting } from "../step.ts";
import { mayFail, wantedApplication } from "./application.ts";

/** The deployer's watch wakes the environment; this is only the net below it. */
const RECHECK_MS = 30_000;

/**
 * Tells how the environment's database fares. It is part of the application, so there is nothing to make here: while the
 * application is healthy, the database is; its pods are looked at only while it is not.
 */
export const database: Step = {
  condition: "DatabaseReady",
  after: ["ConfigurationResolved", "IsolationReady", "SecretsReady", "SourceResolved"],

  async run(environment, context) {
    if (!wantsDatabase(environment.spec, configurationOf(environment, context)?.spec)) return done("NotRequested");
    if (environment.spec.suspended) return done("Suspended");
    const wanted = wantedApplication(environment, context);
    const observed = context.deployer.observe(wanted);
    if (observed?.state === "healthy") return done("Ready");
    if (!isDeployed(observed)) return asBefore(environment);
    return judged(environment, wantedHash(wanted.chart, wanted.values), context);
  },
};

const isDeployed = (observed: ObservedApplication | undefined) =>
  observed?.state === "progressing" || (observed?.state === "broken" && observed.problem === "DeploymentFailed");

/** Nothing is known of what is wanted now; what runs goes on. */
function asBefore({ status }: EphemeralEnvironment): StepResult {
  const former = findCondition(status?.conditions, "DatabaseReady");
  if (former?.status === "True" && former.reason === "Ready") return done("Ready");
  return waiting("Starting", "waiting for the deployer to make the database", { requeueAfterMs: RECHECK_MS });
}

async function judged(environment: EphemeralEnvironment, hash: string, context: StepContext): Promise<StepResult> {
  const readiness = await context.pods.readiness(environment.metadata, DATABASE);
  if (readiness === "ready") return done("Ready");
  const message =
    readiness === "unready"
      ? "the database is starting"
      : "the database has no pod: if that lasts, the environment's quota leaves no room for it";
  const observed: ObservedApplication = { state: "progressing", revision: "", message };
  const part = { component: DATABASE, condition: "DatabaseReady" } as const;
  const ailing = { environment, hash, observed, mayFail: mayFail(environment, hash), part };
  const result = await diagnosedPods(ailing, context);
  return result.reason === "Progressing" ? { ...result, reason: "Starting" } : result;
}
