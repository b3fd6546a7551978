import { isDeepStrictEqual } from "node:util";
import { findCondition } from "../../../crds/conditions.ts";
import { type EphemeralEnvironment, isReconcileRequested } from "../../../crds/environment/ephemeral-environment.ts";
import { namespaceName } from "../../../crds/names.ts";
import { roleBindingKind, secretKind } from "../../kit/client/kinds.ts";
import { elapsedMs } from "../../kit/time/clock.ts";
import type { ObjectRef } from "../../ports/cluster.ts";
import { configurationOf } from "../configuration.ts";
import { type PlannedSecret, plannedStatus } from "../desired/planned-secret.ts";
import { accessBindingObject, podSecretName, secretObject, wantedPodSecret } from "../desired/secret.ts";
import { formerPlan, secretPlan } from "../desired/secret-plan.ts";
import { errorResult } from "../error-results.ts";
import { repositoriesOf, repositoryProblem } from "../repositories.ts";
import type { Schedule } from "../schedule.ts";
import { type Complete, gather } from "../secret-values.ts";
import {
  done,
  type Findings,
  failed,
  type Step,
  type StepContext,
  type StepResult,
  type Unfinished,
  waiting,
} from "../step.ts";
import { whenIsolated } from "./isolation.ts";
import { type Looking, retirePulls, withPullSecret } from "./pull-secret.ts";

/** While something is wrong it may be that the pods' Secret went, of which nobody is told. */
const DOUBT_MS = 30_000;
/** A secret manager that is away comes back without a word, too; so soon it is asked again at first. */
const ASK_AGAIN_MS = 5_000;
/** So long may a value take that somebody provides; the facade writes it right after the resource. */
const PATIENCE_MS = 120_000;
const OVERDUE_RECHECK_MS = 30_000;
/** As many as the status holds. */
const POD_SECRETS_MAX = 16;

interface Context extends Looking {
  readonly looks: Schedule;
}

/**
 * Gives the environment its secrets: kept in the secret manager, mirrored into the namespace under a name that says
 * which values they are; and beside them what its images are pulled with.
 *
 * The secret manager is written first. A crash between the two writes then leaves a value the next pass finds and
 * mirrors; the other order could hand a pod a password that nobody recorded.
 *
 * @param looks when these Secrets are to be looked at again: watching them would take a right on every Secret of the
 *   cluster, and ten thousand environments can't all be asked in every pass
 */
export function secrets(looks: Schedule): Step {
  return {
    condition: "SecretsReady",
    after: ["NamespaceReady", "ConfigurationResolved"],

    // What is refused is not waited for; while it may still come, nothing is rendered that would lack it.
    continueWithPrevious: ({ status }, _context, result) =>
      result?.state === "failed" && status?.desiredHash !== undefined,

    async run(environment, context) {
      const repositories = repositoriesOf(environment, context.repositories);
      const problem = environment.status?.secrets ? undefined : repositoryProblem(environment, context);
      if (problem !== undefined) return problem;
      const looking = {
        ...{ ...context, looks, isLook: await mustLook(environment, context, looks) },
        asked: (isAnswered: boolean) => asked(environment, isAnswered, looks),
      };
      const plan = secretPlan(environment, repositories, configurationOf(environment, context)?.spec);
      const result = plan.problem ?? (await have(environment, plan.secrets, looking));
      const standing = result.state === "failed" ? await withFormer(environment, result, looking) : result;
      return withPullSecret(environment, standing, looking);
    },
  };
}

/**
 * Before the first Secret there is nothing to be looked for. The right to look comes first, because somebody may have
 * taken it away; with its namespace it went, too.
 */
async function mustLook(environment: EphemeralEnvironment, context: StepContext, looks: Schedule): Promise<boolean> {
  if ((environment.status?.podSecrets ?? []).length === 0) return false;
  const right = await bind(environment, context);
  return right !== "unchanged" || isInDoubt(environment) || dueInMs(environment, looks) <= 0;
}

/** Answers when to ask the secret manager again. */
function asked({ metadata }: EphemeralEnvironment, isAnswered: boolean, looks: Schedule): number | undefined {
  if (!isAnswered) return looks.again(metadata.uid, ASK_AGAIN_MS);
  looks.succeeded(metadata.uid);
  return undefined;
}

/** Whether the status says that the pods' Secret holds what is planned. */
function isNamed({ status }: EphemeralEnvironment, plan: readonly PlannedSecret[]): boolean {
  const wanted = plannedStatus(plan);
  return status?.podSecrets?.at(-1) === podSecretName(wanted) && isDeepStrictEqual(status.secrets, wanted);
}

/** What can't be granted changes nothing: the pods' Secret stays the one of before, and comes back when it goes. */
async function withFormer(
  environment: EphemeralEnvironment,
  refusal: Unfinished,
  context: Context,
): Promise<StepResult> {
  if ((environment.status?.podSecrets ?? []).length === 0) return refusal;
  const repositories = repositoriesOf(environment, context.repositories);
  const kept = await have(environment, formerPlan(environment, repositories), context);
  if (kept.state !== "done") return refusal;
  const soonest = Math.min(...[kept, refusal].map(({ requeueAfterMs }) => requeueAfterMs ?? DOUBT_MS));
  return { ...refusal, requeueAfterMs: soonest, ...(kept.findings === undefined ? {} : { findings: kept.findings }) };
}

async function have(
  environment: EphemeralEnvironment,
  plan: readonly PlannedSecret[],
  context: Context,
): Promise<StepResult> {
  if (await isMirrored(environment, plan, context)) {
    return done("Mirrored", { requeueAfterMs: dueInMs(environment, context.looks) });
  }
  const [gathered] = await Promise.all([gather(environment, plan, context), bind(environment, context)]);
  if (gathered.state === "refused") return gathered.result;
  if (gathered.state === "awaiting") return awaiting(environment, gathered.variables, context);
  // Settled in the status before anything is made of it: a crash in between would otherwise settle another one.
  if (plan.some(({ version }) => version === "latest")) return pinned(gathered);
  return mirror(environment, gathered, context);
}

/** Takes away what only former pods had; to be called when those are gone. */
export async function retireSecrets(environment: EphemeralEnvironment, context: StepContext): Promise<Findings> {
  return { ...(await retirePodSecrets(environment, context)), ...(await retiredPulls(environment, context)) };
}

/** What stands in the way of tidying up concerns nothing that serves: a later pass does it. */
async function retiredPulls(environment: EphemeralEnvironment, context: StepContext): Promise<Findings> {
  try {
    return await retirePulls(environment, context);
  } catch (error) {
    if (errorResult(error) === undefined) throw error;
    return {};
  }
}

/** Deletes the Secrets of former values. */
async function retirePodSecrets(environment: EphemeralEnvironment, { cluster }: StepContext): Promise<Findings> {
  const names = environment.status?.podSecrets ?? [];
  if (names.length < 2) return {};
  const former = names.slice(0, -1).map(async (name) => {
    const { state } = await cluster.remove(environment.metadata, secretKind, refOf(environment, name));
    return state === "gone" ? [] : [name];
  });
  return { podSecrets: [...(await Promise.all(former)).flat(), ...names.slice(-1)] };
}

function bind(environment: EphemeralEnvironment, { cluster, settings }: StepContext) {
  return cluster.ensure(environment.metadata, roleBindingKind, accessBindingObject(environment, settings));
}

const refOf = ({ metadata }: EphemeralEnvironment, name: string): ObjectRef => ({
  name,
  namespace: namespaceName(metadata.name),
});

/** Whether the pods' Secret holds what is planned; looked at afresh only where there is a reason to. */
async function isMirrored(
  environment: EphemeralEnvironment,
  plan: readonly PlannedSecret[],
  context: Context,
): Promise<boolean> {
  const { metadata } = environment;
  if (!isNamed(environment, plan)) return false;
  if (!context.isLook) return true;
  const found = await context.cluster.read(metadata, secretKind, refOf(environment, wantedPodSecret(environment)));
  if (found !== undefined) context.looks.taken(metadata.uid);
  return found !== undefined;
}

/** Somebody asks for a look, or the last pass did not get to the end of what makes the Secret. */
function isInDoubt(environment: EphemeralEnvironment): boolean {
  const { status } = environment;
  const stood = (["NamespaceReady", "SecretsReady"] as const).map((type) => findCondition(status?.conditions, type));
  return isReconcileRequested(environment) || stood.some((condition) => condition?.status !== "True");
}

function dueInMs({ metadata, status }: EphemeralEnvironment, looks: Schedule): number {
  const isCalm = status?.conditions?.every((condition) => condition.status === "True") ?? false;
  return looks.dueInMs(metadata.uid, isCalm ? undefined : DOUBT_MS);
}

function awaiting({ status }: EphemeralEnvironment, variables: readonly string[], { clock }: StepContext): StepResult {
  const names = variables.join(", ");
  const former = findCondition(status?.conditions, "SecretsReady");
  const now = clock.now();
  const begun = former?.reason === "AwaitingValue" ? new Date(former.lastTransitionTime) : now;
  // The condition may be open for longer than this is asked for.
  const asked = new Date(status?.rollout?.since ?? 0);
  const waitedMs = Math.min(elapsedMs(begun, now), elapsedMs(asked, now));
  const hasFailed = former?.reason === "AwaitingValue" && former.status === "False" && begun >= asked;
  if (hasFailed || waitedMs >= PATIENCE_MS) {
    const message = `${names}: nobody wrote the value into the secret manager: write it there, or make the environment anew`;
    return { ...failed("AwaitingValue", message), requeueAfterMs: OVERDUE_RECHECK_MS };
  }
  const message = `${names}: waiting for the value to be written into the secret manager`;
  return waiting("AwaitingValue", message, { requeueAfterMs: waitedMs < 5_000 ? 200 : 2_000 });
}

function pinned({ secrets }: Complete): StepResult {
  return waiting("Resolved", "the versions of what is referred to are settled", {
    requeueAfterMs: 1,
    persistFirst: true,
    findings: { secrets },
  });
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
  context.looks.taken(metadata.uid);
  const former = (status?.podSecrets ?? []).filter((other) => other !== name);
  // The first is what serves; of those that never did, the oldest has to go when there are too many.
  const surplus = former.length < POD_SECRETS_MAX ? [] : former.splice(1, former.length - POD_SECRETS_MAX + 1);
  for (const other of surplus) await context.cluster.remove(metadata, secretKind, refOf(environment, other));
  return done("Mirrored", { findings: { secrets, podSecrets: [...former, name] } });
}
