import { findCondition } from "../../../../crds/conditions.ts";
import { type EphemeralEnvironment, isReconcileRequested } from "../../../../crds/environment/ephemeral-environment.ts";
import { insteadOf } from "../../../kit/client/errors.ts";
import { roleBindingKind, secretKind } from "../../../kit/client/kinds.ts";
import { equalJson } from "../../../kit/equal-json.ts";
import { type Clock, elapsedMs } from "../../../kit/time/clock.ts";
import type { Cluster } from "../../../ports/cluster.ts";
import type { CopySources } from "../database-copies.ts";
import { refIn } from "../desired/namespace.ts";
import { type PlannedSecret, plannedStatus } from "../desired/planned-secret.ts";
import { accessBindingObject, desiredPodSecret, podSecretName, secretObject } from "../desired/secret.ts";
import { formerPlan, secretPlan } from "../desired/secret-plan.ts";
import { errorResult } from "../error-results.ts";
import { type PlanSources, planInput } from "../plan-input.ts";
import { type RepositorySources, repositoryProblem } from "../repositories.ts";
import type { Schedule, Schedules } from "../schedule.ts";
import { type Complete, gather, type SecretValueSources } from "../secret-values.ts";
import type { Step, StepContext } from "../step.ts";
import {
  done,
  type Findings,
  failed,
  type StepResult,
  type Unfinished,
  waiting,
  withFindings,
} from "../step-result.ts";
import { endCopies, withCopySecret } from "./copy-secret.ts";
import { whenIsolated } from "./isolation.ts";
import { retirePulls, type SecretsContext, withPullSecret } from "./pull-secret.ts";

interface SecretsDependencies extends PlanSources, RepositorySources, SecretValueSources, CopySources {
  readonly clock: Clock;
  readonly cluster: Cluster;
}

type Context = SecretsDependencies & SecretsContext;

/** Recheck while a condition is not True: the unwatched pods' Secret may be missing. */
const UNCERTAIN_MS = 30_000;
/** Wait for a provided value; the API writes it right after the resource. */
const AWAIT_VALUE_MS = 120_000;
const OVERDUE_RECHECK_MS = 30_000;
const POD_SECRETS_MAX = 16;

/**
 * Stores the environment's secrets in the secret manager and mirrors them into the namespace, in a Secret named by its
 * values; ensures the image pull Secret and that of a copy of a database, too.
 *
 * The secret manager is written first. After a crash between the two writes, the next reconcile finds and mirrors the
 * value; in the other order, pods could have an unrecorded password.
 *
 * Reads are on a schedule: a watch would need a right on every Secret of the cluster, and reading ten thousand Secrets in
 * every reconcile costs too much.
 */
export function secrets(dependencies: SecretsDependencies, { secretChecks: checks }: Schedules): Step {
  return {
    condition: "SecretsReady",
    writes: ["secrets", "podSecrets", "pullSecret"],
    after: ["NamespaceReady", "ConfigurationResolved"],

    // A refused request does not block the application; a value that may still come does.
    continueWithPrevious: ({ status }, result) => result?.state === "failed" && status?.desiredHash !== undefined,

    async run(environment, ofStep) {
      const problem = environment.status?.secrets ? undefined : repositoryProblem(environment, dependencies);
      if (problem !== undefined) return problem;
      const isDue = await isCheckDue(environment, dependencies, checks);
      const context = { ...dependencies, ...ofStep, checks, isCheckDue: isDue };
      const plan = secretPlan(planInput(environment, context));
      const requested = plan.problem ?? (await ensurePodSecret(environment, plan.secrets, context));
      const result = requested.state === "failed" ? await withFormer(environment, requested, context) : requested;
      return withPullSecret(environment, await withCopySecret(environment, result, context), context);
    },

    async cleanUp(environment, ofStep) {
      const context = { ...dependencies, ...ofStep };
      await endCopies(environment, context);
      return retireSecrets(environment, context);
    },
  };
}

/** True when this reconcile reads the Secrets. Ensures the right first: it may be gone, alone or with the namespace. */
async function isCheckDue(
  environment: EphemeralEnvironment,
  context: SecretsDependencies,
  checks: Schedule,
): Promise<boolean> {
  if ((environment.status?.podSecrets ?? []).length === 0) return false;
  const right = await ensureAccess(environment, context);
  return right !== "unchanged" || isUncertain(environment) || dueInMs(environment, checks) <= 0;
}

/** Keeps or restores the former pods' Secret while the request is refused. */
async function withFormer(
  environment: EphemeralEnvironment,
  refusal: Unfinished,
  context: Context,
): Promise<StepResult> {
  if ((environment.status?.podSecrets ?? []).length === 0) return refusal;
  const former = await ensurePodSecret(environment, formerPlan(planInput(environment, context)), context);
  if (former.state !== "done") return refusal;
  const soonest = Math.min(...[former, refusal].map(({ requeueAfterMs }) => requeueAfterMs ?? UNCERTAIN_MS));
  return withFindings({ ...refusal, requeueAfterMs: soonest }, { ...former.findings });
}

async function ensurePodSecret(
  environment: EphemeralEnvironment,
  plan: readonly PlannedSecret[],
  context: Context,
): Promise<StepResult> {
  if (await isMirrored(environment, plan, context)) {
    return done("Mirrored", { requeueAfterMs: dueInMs(environment, context.checks) });
  }
  const [gathered] = await Promise.all([gather(environment, plan, context), ensureAccess(environment, context)]);
  if (gathered.state === "awaiting") return awaiting(environment, gathered.variables, context.clock.now());
  if (gathered.state !== "complete") return gathered;
  // Versions are stored before use: after a crash in between, others could be resolved.
  if (plan.some(({ version }) => version === "latest")) {
    const more = { requeueAfterMs: 1, persistFirst: true };
    const resolved = waiting("Resolved", "the versions of the referenced secrets are resolved", more);
    return withFindings(resolved, { secrets: gathered.secrets });
  }
  return mirror(environment, gathered, context);
}

function ensureAccess(environment: EphemeralEnvironment, { cluster, settings }: SecretsDependencies) {
  return cluster.ensure(environment.metadata, roleBindingKind, accessBindingObject(environment, settings));
}

/** True when the pods' Secret has the planned content: by the status, and by a read when due. */
async function isMirrored(
  environment: EphemeralEnvironment,
  plan: readonly PlannedSecret[],
  { cluster, checks, isCheckDue: mustRead }: Context,
): Promise<boolean> {
  const { metadata, status } = environment;
  const planned = plannedStatus(plan);
  const isNamed = status?.podSecrets?.at(-1) === podSecretName(planned) && equalJson(status.secrets, planned);
  if (!isNamed || !mustRead) return isNamed;
  const secret = await cluster.read(metadata, secretKind, refIn(environment, desiredPodSecret(environment)));
  if (secret !== undefined) checks.taken(metadata.uid);
  return secret !== undefined;
}

/** True when a reconcile was requested, or the last one did not finish the Secret's steps. */
function isUncertain(environment: EphemeralEnvironment): boolean {
  const conditions = environment.status?.conditions;
  const former = (["NamespaceReady", "SecretsReady"] as const).map((type) => findCondition(conditions, type));
  return isReconcileRequested(environment) || former.some((condition) => condition?.status !== "True");
}

function dueInMs({ metadata, status }: EphemeralEnvironment, checks: Schedule): number {
  const isCalm = status?.conditions?.every((condition) => condition.status === "True") ?? false;
  return checks.dueInMs(metadata.uid, isCalm ? undefined : UNCERTAIN_MS);
}

function awaiting({ status }: EphemeralEnvironment, variables: readonly string[], now: Date): Unfinished {
  const names = variables.join(", ");
  const former = findCondition(status?.conditions, "SecretsReady");
  const start = former?.reason === "AwaitingValue" ? new Date(former.lastTransitionTime) : now;
  // The condition may be older than the request.
  const requested = new Date(status?.rollout?.since ?? 0);
  const waitedMs = Math.min(elapsedMs(start, now), elapsedMs(requested, now));
  const hasFailed = former?.reason === "AwaitingValue" && former.status === "False" && start >= requested;
  if (hasFailed || waitedMs >= AWAIT_VALUE_MS) {
    const message = `${names}: the secret manager still has no value: write it there, or create the environment again`;
    return failed("AwaitingValue", message, { requeueAfterMs: OVERDUE_RECHECK_MS });
  }
  const message = `${names}: waiting for the value to be written into the secret manager`;
  return waiting("AwaitingValue", message, { requeueAfterMs: waitedMs < 5_000 ? 200 : 2_000 });
}

async function mirror(
  environment: EphemeralEnvironment,
  { secrets, values }: Complete,
  context: Context,
): Promise<StepResult> {
  const { metadata, status } = environment;
  const name = podSecretName(secrets);
  await whenIsolated(context);
  await context.cluster.ensure(metadata, secretKind, secretObject(environment, name, values));
  context.checks.taken(metadata.uid);
  const former = (status?.podSecrets ?? []).filter((other) => other !== name);
  // The first is in use; of the others, unused so far, the oldest are removed.
  const surplus = former.length < POD_SECRETS_MAX ? [] : former.splice(1, former.length - POD_SECRETS_MAX + 1);
  for (const other of surplus) await context.cluster.remove(metadata, secretKind, refIn(environment, other));
  return done("Mirrored", { findings: { secrets, podSecrets: [...former, name] } });
}

/** Removes Secrets of former pods, once only pods with the desired values run and their URLs have answered. */
async function retireSecrets(
  environment: EphemeralEnvironment,
  context: SecretsDependencies & StepContext,
): Promise<Findings> {
  const isDeployed = context.earlier.get("ApplicationSynced")?.state === "done";
  if (!isDeployed || environment.status?.servingHash !== environment.status?.desiredHash) return {};
  const podSecrets = await retirePodSecrets(environment, context.cluster);
  // A failure affects no running pod: a later reconcile tries again.
  const isExpected = (error: unknown) => errorResult(error) !== undefined;
  return { ...podSecrets, ...(await retirePulls(environment, context).catch(insteadOf(isExpected, {}))) };
}

async function retirePodSecrets(environment: EphemeralEnvironment, cluster: Cluster): Promise<Findings> {
  const names = environment.status?.podSecrets ?? [];
  if (names.length < 2) return {};
  const former = names.slice(0, -1).map(async (name) => {
    const { state } = await cluster.remove(environment.metadata, secretKind, refIn(environment, name));
    return state === "gone" ? [] : [name];
  });
  return { podSecrets: [...(await Promise.all(former)).flat(), ...names.slice(-1)] };
}
