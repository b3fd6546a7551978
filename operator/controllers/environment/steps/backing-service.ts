import { findCondition } from "../../../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { present } from "../../../../crds/present.ts";
import type { ObservedApplication } from "../../../ports/deployer.ts";
import type { BackingService, PendingLoad } from "../backing-services/backing-service.ts";
import { hashOfDesired } from "../desired/values.ts";
import { type DiagnosisDependencies, diagnosePods } from "../diagnosis.ts";
import { type PlanInput, type PlanSources, planInput } from "../plan-input.ts";
import type { Step, StepContext } from "../step.ts";
import { done, failed, type StepResult, type Unfinished, waiting, withFindings } from "../step-result.ts";
import { desiredApplication, mayFail } from "./application.ts";
import { ensureSeedFile, removeSeedFile, type SeedFileSources } from "./seed-file.ts";

/** Fallback for the deployer's watch. */
const RECHECK_MS = 30_000;

interface BackingServiceDependencies extends PlanSources, DiagnosisDependencies, SeedFileSources {}

/** Reports each backing service. As a part of the application it is ready while that is healthy; else its pods are read. */
export function backingServices(dependencies: BackingServiceDependencies): readonly Step[] {
  return dependencies.backingServices.map((service) => backingService(service, dependencies));
}

function backingService(service: BackingService, dependencies: BackingServiceDependencies): Step {
  return {
    condition: service.condition,
    writes: service.firstData === undefined ? [] : [service.firstData.writes],
    after: ["ConfigurationResolved", "IsolationReady", "SecretsReady", "SourceResolved"],

    async run(environment, context) {
      const { firstData } = service;
      const input = planInput(environment, dependencies);
      if (!service.isDesired(environment.spec, input.configSet)) {
        return withFindings(done("NotRequested"), firstData?.removed(environment) ?? {});
      }
      if (environment.spec.suspended) return done("Suspended");
      const desired = desiredApplication(environment, dependencies);
      const observed = dependencies.deployer.observe(desired);
      const loading = firstData?.pending(input, dependencies.settings);
      const hash = hashOfDesired(desired.chart, desired.values);
      const isSynced = observed?.state === "healthy" || isDeployed(observed);
      const one = { service, environment, input, observed, isSynced, hash, loading };
      const reading = await readingResult(one, { ...dependencies, ...context });
      return reading ?? (await loadingResult(one, dependencies)) ?? deployedResult(one, dependencies);
    },

    async cleanUp(environment) {
      if (environment.status?.database?.file === undefined) return {};
      // Until it is stored that the file is loaded, another process would go on with it.
      const stored = dependencies.environment(environment.metadata.name) ?? environment;
      const isNeeded = [environment, stored].some((one) => fileStillNeeded(service, one, dependencies) !== undefined);
      return isNeeded ? {} : removeSeedFile(environment, dependencies.cluster);
    },
  };
}

/** The file that is still to be loaded, also after a suspension: what it was begun with must not be forgotten. */
function fileStillNeeded(
  { firstData, isDesired }: BackingService,
  one: EphemeralEnvironment,
  sources: BackingServiceDependencies,
) {
  const input = planInput({ ...one, spec: { ...one.spec, suspended: false } }, sources);
  return isDesired(one.spec, input.configSet) ? firstData?.pending(input, sources.settings)?.file : undefined;
}

interface DeployedService {
  readonly service: BackingService;
  readonly environment: EphemeralEnvironment;
  readonly input: PlanInput;
  readonly observed: ObservedApplication | undefined;
  /** True once the sync is over: whatever it makes has been made. */
  readonly isSynced: boolean;
  readonly hash: string;
  /** Load of the first data; `undefined` without any. */
  readonly loading: PendingLoad | undefined;
}

async function deployedResult(one: DeployedService, context: BackingServiceDependencies): Promise<StepResult> {
  const { service, environment, input, observed, loading } = one;
  const made = service.firstData?.made(input, context.settings) ?? {};
  if (observed?.state === "healthy") return withFindings(done("Ready"), made);
  if (isDeployed(observed)) {
    const result = await podsResult(one, context);
    // The sync ends only after the Job that loads the data.
    return result.state === "done" || loading !== undefined ? withFindings(result, made) : result;
  }
  // The state of the desired values is unknown; the running service goes on.
  if (loading === undefined && wasReady(service, environment)) return done("Ready");
  const message = `waiting for the deployer to create the ${service.name}`;
  return waiting("Starting", message, { requeueAfterMs: RECHECK_MS });
}

const isDeployed = (observed: ObservedApplication | undefined) =>
  observed?.state === "progressing" || (observed?.state === "broken" && observed.problem === "DeploymentFailed");

function wasReady({ condition }: BackingService, { status }: EphemeralEnvironment): boolean {
  const former = findCondition(status?.conditions, condition);
  return former?.status === "True" && former.reason === "Ready";
}

/** Result while the file of a load is not in the namespace; `undefined` where it is, and where none is needed any more. */
async function readingResult(
  { service, environment, input, isSynced, loading }: DeployedService,
  context: BackingServiceDependencies & StepContext,
): Promise<Unfinished | undefined> {
  if (loading === undefined || isSynced || service.firstData?.problem(input, context.settings)) return undefined;
  return ensureSeedFile(environment, loading, context);
}

/** Result while the service's first data is loaded, or can't be; `undefined` otherwise. */
async function loadingResult(
  one: DeployedService,
  context: BackingServiceDependencies,
): Promise<Unfinished | undefined> {
  const { service, input, observed, isSynced, loading } = one;
  const problem = service.firstData?.problem(input, context.settings);
  if (problem !== undefined || loading === undefined) return problem;
  const lacking = isSynced ? lackingJob(loading, observed?.kinds) : undefined;
  if (lacking !== undefined) return failed("SeedUnsupported", lacking);
  // Loaded data is there, whatever became of its origin.
  const isLoaded = isSynced && loading.job !== undefined;
  if (loading.obstacle !== undefined && !isLoaded) return loading.obstacle;
  return isSynced || observed === undefined ? undefined : unsyncedResult({ ...one, observed, loading }, context);
}

type Loading = DeployedService & { readonly observed: ObservedApplication; readonly loading: PendingLoad };

async function unsyncedResult(one: Loading, context: BackingServiceDependencies): Promise<Unfinished> {
  const { observed, loading } = one;
  const { message, reason, job } = loading;
  const kinds = [...(observed.kinds ?? []), ...(job === undefined ? [] : ["Job"])];
  const result = await ownResult(one, { message, kinds }, context);
  const isExpected = result.state === "waiting" && AS_EXPECTED.includes(result.reason);
  if (!isExpected) return result;
  const requeue = { requeueAfterMs: result.requeueAfterMs };
  // The Job may have ended, or may never have been made.
  if (observed.problem !== undefined) return waiting(observed.problem, NOT_APPLIED, requeue);
  return waiting(reason, message, requeue);
}

const NOT_APPLIED =
  "the application can't be applied as a whole, so it is not known whether the data is there: see ApplicationSynced";

/** Reasons of a Job that has not ended. */
const AS_EXPECTED: readonly string[] = ["Progressing", "ResourceNotReady"];

const lackingJob = ({ job }: PendingLoad, kinds: readonly string[] = []) =>
  job === undefined || kinds.includes("Job")
    ? undefined
    : "the chart has no Job for database.seed or database.from, and has begun with an empty database: use the platform's chart, or remove both";

async function podsResult(one: DeployedService, context: BackingServiceDependencies) {
  const {
    service: { name },
    environment,
  } = one;
  const readiness = await context.pods.readiness(environment.metadata, name);
  if (readiness === "ready") return done("Ready");
  const message =
    readiness === "unready"
      ? `the ${name} is starting`
      : `the ${name} has no pod: if that lasts, the environment's quota leaves no room for it`;
  const result = await ownResult(one, { message }, context);
  return result.reason === "Progressing" ? { ...result, reason: "Starting" } : result;
}

/** Diagnosis of the service's own objects. */
function ownResult(
  { service, environment, hash, loading }: DeployedService,
  said: Pick<ObservedApplication, "message" | "kinds">,
  context: DiagnosisDependencies,
): Promise<Unfinished> {
  const observed: ObservedApplication = { state: "progressing", revision: "", ...said };
  const only = { component: service.name, condition: service.condition, ...present({ job: loading?.job }) };
  return diagnosePods({ environment, hash, observed, mayFail: mayFail(environment, hash), only }, context);
}
