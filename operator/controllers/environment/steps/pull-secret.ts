import type { PullCredential } from "../../../../crds/environment/environment-status.schema.ts";
import { componentsOf, type EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import type { Sensitive } from "../../../../crds/sensitive.ts";
import { secretKind } from "../../../kit/client/kinds.ts";
import type { Cluster, ObservedObject } from "../../../ports/cluster.ts";
import { SecretManagerUnavailable } from "../../../ports/secret-manager.ts";
import {
  CredentialRefused,
  type CredentialSource,
  pullCredential,
} from "../../../repository-access/host-credentials.ts";
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
import {
  type ComponentRepositories,
  componentRepositories,
  type RepositorySources,
  repositoryProblem,
} from "../repositories.ts";
import type { Schedule } from "../schedule.ts";
import type { StepContext } from "../step.ts";
import { type Findings, requeuedWithin, type StepResult, withFindings } from "../step-result.ts";
import { replaceSecret, withoutSecret } from "./further-secrets.ts";

/** First pause for an unavailable secret manager. */
const RETRY_MS = 5_000;

interface PullSecretContext extends CredentialSource, RepositorySources, StepContext {
  readonly cluster: Cluster;
}

/** Context for ensuring Secrets. */
export interface SecretsContext extends PullSecretContext {
  /** True when this reconcile reads the Secrets of the status, instead of trusting it. */
  readonly isCheckDue: boolean;
  /** Schedule of these reads. */
  readonly checks: Schedule;
}

/**
 * Ensures the image pull Secret of the current Repositories, after the pods' Secret with its `result`, without which
 * nothing needs it.
 *
 * The kubelet reads it for every pull, so a new value needs no new pods. An unavailable credential fails only an
 * environment without a workload; else its Repository reports it.
 */
export async function withPullSecret(
  environment: EphemeralEnvironment,
  result: StepResult,
  context: SecretsContext,
): Promise<StepResult> {
  const podSecrets = result.findings?.podSecrets ?? environment.status?.podSecrets ?? [];
  if (result.state === "waiting" || podSecrets.length === 0) return result;
  try {
    const { isAnswered, findings = {} } = await ensurePullSecret(environment, context);
    if (isAnswered === true) context.checks.succeeded(environment.metadata.uid);
    const retryMs = isAnswered === false ? context.checks.again(environment.metadata.uid, RETRY_MS) : undefined;
    return requeuedWithin(withFindings(result, findings), retryMs);
  } catch (error) {
    return withoutSecret(result, error);
  }
}

/** Removes credentials of former images; call when their pods are gone. */
export async function retirePulls(environment: EphemeralEnvironment, context: PullSecretContext): Promise<Findings> {
  const { metadata, status } = environment;
  const repositories = componentRepositories(environment, context.repositories);
  const [plan, named] = [pullPlan(repositories), status?.pullSecret ?? []];
  const isFormer = formerPulls(plan, named).length > 0;
  // Former credentials stay until the planned ones are in the Secret.
  if (!isFormer || formerPulls(named, plan).length > 0 || !runsImagesOf(environment, repositories)) return {};
  const secret = await context.cluster.read(metadata, secretKind, refIn(environment, PULL_SECRET));
  const current = named.filter(({ registry }) => plan.some((planned) => planned.registry === registry));
  // Deleted, perhaps by an operator that crashed here: the next check recreates it.
  if (secret === undefined && current.length > 0) return {};
  const { credentials, pullSecret } = pullContents(plan, current, credentialsIn(secret));
  await replace(environment, credentials, secret, context);
  return { pullSecret };
}

/** True when all images are of these Repositories; during a build, one may be of a former registry. */
function runsImagesOf(environment: EphemeralEnvironment, repositories: ComponentRepositories): boolean {
  return componentsOf(environment).every((component) => {
    const image = environment.status?.sources?.[component]?.applied?.image;
    return image?.startsWith(`${repositories[component]?.spec.image.repository}:`) ?? false;
  });
}

interface Answer extends PullEntry {
  readonly refusal?: Error;
}

interface Ensured {
  readonly findings?: Findings;
  /** False when the secret manager did not answer; the value may be outdated. Absent: nothing was read. */
  readonly isAnswered?: boolean;
}

/** @throws CredentialRefused, SecretManagerUnavailable, and errors of the cluster */
async function ensurePullSecret(environment: EphemeralEnvironment, context: SecretsContext): Promise<Ensured> {
  if (repositoryProblem(environment, context) !== undefined) return withoutRepository(environment, context);
  const plan = pullPlan(componentRepositories(environment, context.repositories));
  const { pullSecret: named = [], desiredHash } = environment.status ?? {};
  const mustRead = context.isCheckDue && plan.length + named.length > 0;
  const isKnown = ({ registry, source }: PullCredential) =>
    named.some((pull) => pull.registry === registry && pull.source === source);
  if (!mustRead && plan.every(isKnown)) return {};
  const answers = await Promise.all(plan.map((planned) => answerTo(planned, context)));
  const isAnswered = !answers.some(({ refusal }) => refusal instanceof SecretManagerUnavailable);
  const isNew = answers.some((one) => one.credential !== undefined && !isKnown(one));
  if (!mustRead && !isNew && desiredHash !== undefined) return { isAnswered };
  const secret = await context.cluster.read(environment.metadata, secretKind, refIn(environment, PULL_SECRET));
  const existing = credentialsIn(secret);
  const lacking = answers.find(({ refusal, registry }) => refusal !== undefined && !existing.has(registry));
  if (lacking !== undefined && desiredHash === undefined) throw lacking.refusal;
  const { credentials, pullSecret } = pullContents(answers, named, existing);
  await replace(environment, credentials, secret, context);
  return { findings: { pullSecret }, isAnswered };
}

/** A missing Repository leaves the Secret as it is, and a due check due. */
function withoutRepository({ status }: EphemeralEnvironment, { isCheckDue }: SecretsContext): Ensured {
  return isCheckDue && status?.pullSecret?.length ? { isAnswered: false } : {};
}

/** An unavailable credential does not affect the others. */
async function answerTo({ registry, source, repository }: PlannedPull, context: CredentialSource): Promise<Answer> {
  try {
    return { registry, source, credential: await pullCredential(repository, context) };
  } catch (error) {
    const isRefusal = error instanceof SecretManagerUnavailable || error instanceof CredentialRefused;
    if (isRefusal) return { registry, source, refusal: error };
    throw error;
  }
}

/** @throws NotIsolated, BeingDeleted, and errors of the cluster */
function replace(
  environment: EphemeralEnvironment,
  credentials: ReadonlyMap<string, Sensitive>,
  stored: ObservedObject | undefined,
  context: PullSecretContext,
): Promise<void> {
  const desired = credentials.size === 0 ? undefined : pullSecretObject(environment, credentials);
  return replaceSecret(environment, { name: PULL_SECRET, stored, desired }, context);
}
