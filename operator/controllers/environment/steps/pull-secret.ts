import { isDeepStrictEqual } from "node:util";
import type { PullCredential } from "../../../../crds/environment/environment-status.schema.ts";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import type { Sensitive } from "../../../../crds/sensitive.ts";
import { isConflict } from "../../../kit/client/errors.ts";
import { secretKind } from "../../../kit/client/kinds.ts";
import { BeingDeleted, type ObservedObject } from "../../../ports/cluster.ts";
import { SecretManagerUnavailable } from "../../../ports/secret-manager.ts";
import { CredentialRefused, pullCredential } from "../../../repository-access/host-credentials.ts";
import { refIn } from "../desired/namespace.ts";
import {
  credentialsIn,
  formerPulls,
  type PlannedPull,
  PULL_SECRET,
  type PullEntry,
  pullContents,
  pullPlan,
  pullSecretObject,
} from "../desired/pull-secret.ts";
import { componentsOf } from "../desired/values.ts";
import { errorResult, retrying } from "../error-results.ts";
import { type ComponentRepositories, repositoriesOf, repositoryProblem } from "../repositories.ts";
import type { StepContext } from "../step.ts";
import { type Findings, type StepResult, withFindings } from "../step-result.ts";
import { whenIsolated } from "./isolation.ts";

/** The context of what ensures Secrets. */
export interface SecretsContext extends StepContext {
  /** Whether the Secrets in the status are read in this reconcile; else the status is trusted. */
  readonly isCheckDue: boolean;
  /** Notes whether the secret manager answered; returns in how many milliseconds to ask it again, if at all. */
  readonly noteAnswer: (isAnswered: boolean) => number | undefined;
}

type PodFindings = Findings<"secrets" | "podSecrets">;
type AllFindings = PodFindings & Findings<"pullSecret">;

/**
 * Ensures the Secret that the environment's images are pulled with, as its Repositories name it now. It comes after the
 * pods' Secret, whose result is `result`: while that one is awaited, nothing is made that would need this one.
 *
 * It follows the values in the secret manager; the kubelet reads it for every pull, so a new value needs no new pods. A
 * credential that is not available fails only an environment of which nothing runs yet; else its Repository reports it.
 */
export async function withPullSecret(
  environment: EphemeralEnvironment,
  result: StepResult<PodFindings>,
  context: SecretsContext,
): Promise<StepResult<AllFindings>> {
  const podSecrets = result.findings?.podSecrets ?? environment.status?.podSecrets ?? [];
  if (result.state === "waiting" || podSecrets.length === 0) return result;
  try {
    const { isAnswered, findings = {} } = await ensurePullSecret(environment, context);
    const all = withFindings(result, findings);
    return isAnswered === undefined ? all : requeuedWithin(all, context.noteAnswer(isAnswered));
  } catch (error) {
    return withoutPullSecret(result, error);
  }
}

function requeuedWithin<F>(result: StepResult<F>, inMs: number | undefined): StepResult<F> {
  return inMs === undefined ? result : { ...result, requeueAfterMs: Math.min(inMs, result.requeueAfterMs ?? inMs) };
}

/** The result when this Secret could not be ensured; the findings of the pods' Secret are kept. */
function withoutPullSecret(result: StepResult<PodFindings>, error: unknown): StepResult<PodFindings> {
  const refusal = errorResult(error);
  if (refusal !== undefined) return result.state === "failed" ? result : withFindings(refusal, { ...result.findings });
  if (isConflict(error)) throw error;
  return withFindings({ ...retrying(error), error }, { ...result.findings });
}

/** Removes the credentials that only former images needed; to be called when the pods with those images are gone. */
export async function retirePulls(
  environment: EphemeralEnvironment,
  context: StepContext,
): Promise<Findings<"pullSecret">> {
  const { metadata, status } = environment;
  const repositories = repositoriesOf(environment, context.repositories);
  const [plan, named] = [pullPlan(repositories), status?.pullSecret ?? []];
  const isFormer = formerPulls(plan, named).length > 0;
  // Until the planned credentials are in the Secret, the former ones are not replaced.
  if (!isFormer || formerPulls(named, plan).length > 0 || !runsImagesOf(environment, repositories)) return {};
  const found = await context.cluster.read(metadata, secretKind, refIn(environment, PULL_SECRET));
  const current = named.filter(({ registry }) => plan.some((planned) => planned.registry === registry));
  // It was deleted, perhaps by an operator that crashed here: the next check creates it again.
  if (found === undefined && current.length > 0) return {};
  const { credentials, pullSecret } = pullContents(plan, current, credentialsIn(found));
  await replace(environment, credentials, found, context);
  return { pullSecret };
}

/** While a commit is being built, the applied image may be from the Repository's former registry. */
function runsImagesOf(environment: EphemeralEnvironment, repositories: ComponentRepositories): boolean {
  return componentsOf(environment).every((component) => {
    const image = environment.status?.sources?.[component]?.applied?.image;
    return image?.startsWith(`${repositories[component]?.spec.image.repository}:`) ?? false;
  });
}

/** A planned credential, or why it is not available. */
interface Answer extends PullEntry {
  readonly refusal?: Error;
}

interface Ensured {
  readonly findings?: Findings<"pullSecret">;
  /** Whether the secret manager answered, if it was to be asked; else the value may be outdated. */
  readonly isAnswered?: boolean;
}

/** @throws CredentialRefused, SecretManagerUnavailable, and the errors of the cluster */
async function ensurePullSecret(environment: EphemeralEnvironment, context: SecretsContext): Promise<Ensured> {
  if (repositoryProblem(environment, context) !== undefined) return withoutRepository(environment, context);
  const plan = pullPlan(repositoriesOf(environment, context.repositories));
  const { pullSecret: named = [], desiredHash } = environment.status ?? {};
  const mustRead = context.isCheckDue && plan.length + named.length > 0;
  const isKnown = ({ registry, source }: PullCredential) =>
    named.some((pull) => pull.registry === registry && pull.source === source);
  if (!mustRead && plan.every(isKnown)) return {};
  const answers = await Promise.all(plan.map((planned) => answerTo(planned, context)));
  const isAnswered = !answers.some(({ refusal }) => refusal instanceof SecretManagerUnavailable);
  const isNew = answers.some((one) => one.credential !== undefined && !isKnown(one));
  if (!mustRead && !isNew && desiredHash !== undefined) return { isAnswered };
  const found = await context.cluster.read(environment.metadata, secretKind, refIn(environment, PULL_SECRET));
  const held = credentialsIn(found);
  const lacking = answers.find(({ refusal, registry }) => refusal !== undefined && !held.has(registry));
  if (lacking !== undefined && desiredHash === undefined) throw lacking.refusal;
  const { credentials, pullSecret } = pullContents(answers, named, held);
  await replace(environment, credentials, found, context);
  return { findings: { pullSecret }, isAnswered };
}

/** What a missing Repository names is unknown: the Secret stays as it is, and a check of it that is due stays due. */
function withoutRepository({ status }: EphemeralEnvironment, { isCheckDue }: SecretsContext): Ensured {
  return isCheckDue && status?.pullSecret?.length ? { isAnswered: false } : {};
}

/** A credential that is not available does not affect the others. */
async function answerTo({ registry, source, repository }: PlannedPull, context: StepContext): Promise<Answer> {
  try {
    return { registry, source, credential: await pullCredential(repository, context) };
  } catch (error) {
    const isRefusal = error instanceof SecretManagerUnavailable || error instanceof CredentialRefused;
    if (isRefusal) return { registry, source, refusal: error };
    throw error;
  }
}

/**
 * Replaces the Secret where its content differs; it is immutable.
 *
 * @throws NotIsolated before anything is changed
 * @throws BeingDeleted when the existing one, or one that another operator created in between, must be gone first
 */
async function replace(
  environment: EphemeralEnvironment,
  credentials: ReadonlyMap<string, Sensitive>,
  found: ObservedObject | undefined,
  context: StepContext,
): Promise<void> {
  const { cluster } = context;
  const { metadata } = environment;
  const desired = credentials.size === 0 ? undefined : pullSecretObject(environment, credentials);
  if (isDeepStrictEqual(found?.data, desired?.data)) return;
  await whenIsolated(context);
  if (found !== undefined) {
    const removal = await cluster.remove(metadata, secretKind, refIn(environment, PULL_SECRET), found);
    if (removal.state === "removing") throw new BeingDeleted(removal.message);
  }
  if (desired === undefined || (await cluster.ensure(metadata, secretKind, desired)) === "created") return;
  const rival = await cluster.read(metadata, secretKind, refIn(environment, PULL_SECRET));
  if (!isDeepStrictEqual(rival?.data, desired.data))
    throw new BeingDeleted(`Secret '${PULL_SECRET}' was replaced by another operator`);
}
