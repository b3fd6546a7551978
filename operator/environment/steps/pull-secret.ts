import { isDeepStrictEqual } from "node:util";
import type { PullCredential } from "../../../crds/environment/environment-status.schema.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { namespaceName } from "../../../crds/names.ts";
import type { Sensitive } from "../../../crds/sensitive.ts";
import { secretKind } from "../../kit/client/kinds.ts";
import { BeingDeleted, type ObservedObject } from "../../ports/cluster.ts";
import { SecretManagerUnavailable } from "../../ports/secret-manager.ts";
import { CredentialRefused, pullCredential } from "../../repository/host-credentials.ts";
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
import { errorResult } from "../error-results.ts";
import { repositoriesOf, repositoryProblem } from "../repositories.ts";
import { type Findings, Interrupted, type StepContext, type StepResult } from "../step.ts";
import { whenIsolated } from "./isolation.ts";

/** What a pass over Secrets has. */
export interface Looking extends StepContext {
  /** Whether what the status names is to be looked for in this pass; else the status is believed. */
  readonly isLook: boolean;
  /** To be told whether the secret manager answered; says in how many milliseconds it is to be asked again, if it is. */
  readonly asked: (isAnswered: boolean) => number | undefined;
}

/**
 * Has the Secret in the namespace that the environment's images are pulled with, as its Repositories name it by now;
 * beside the pods' own, which `result` tells of: while that may still come, nothing is made that would need this one.
 *
 * It follows what the secret manager holds, because the kubelet reads it for every pull: a new value needs no new pods.
 * What can't be had fails only an environment of which nothing runs yet; else its Repository tells it, once for all.
 */
export async function withPullSecret(
  environment: EphemeralEnvironment,
  result: StepResult,
  context: Looking,
): Promise<StepResult> {
  const podSecrets = result.findings?.podSecrets ?? environment.status?.podSecrets ?? [];
  if (result.state === "waiting" || podSecrets.length === 0) return result;
  try {
    const { isAnswered, findings } = await pullSecret(environment, context);
    const all = { ...result, findings: { ...result.findings, ...findings } };
    return isAnswered === undefined ? all : within(all, context.asked(isAnswered));
  } catch (error) {
    return without(result, error);
  }
}

/** The same, looked at again in that time at the latest. */
function within(result: StepResult, inMs: number | undefined): StepResult {
  return inMs === undefined ? result : { ...result, requeueAfterMs: Math.min(inMs, result.requeueAfterMs ?? inMs) };
}

/** What it came to where this Secret can't be had; what was found before is kept. */
function without(result: StepResult, error: unknown): StepResult {
  const refusal = errorResult(error);
  if (refusal === undefined) throw new Interrupted(result.findings ?? {}, error);
  return result.state === "failed" ? result : { ...refusal, findings: result.findings ?? {} };
}

/** Takes away what images of before were pulled with; to be called when the pods that named them are gone. */
export async function retirePulls(environment: EphemeralEnvironment, context: StepContext): Promise<Findings> {
  const { metadata, status } = environment;
  const repositories = repositoriesOf(environment, context.repositories);
  const [plan, named] = [pullPlan(repositories), status?.pullSecret ?? []];
  const isFormer = formerPulls(plan, named).length > 0;
  // What is not there yet has taken nothing's place.
  if (!isFormer || formerPulls(named, plan).length > 0 || !runsImagesOf(environment, repositories)) return {};
  const found = await context.cluster.read(metadata, secretKind, refOf(environment));
  const current = named.filter(({ registry }) => plan.some((planned) => planned.registry === registry));
  // Somebody deleted it, or an operator that died here: the next look makes it anew, from the secret manager.
  if (found === undefined && current.length > 0) return {};
  const { credentials, pullSecret } = pullContents(plan, current, credentialsIn(found));
  await put(environment, credentials, found, context);
  return { pullSecret };
}

/** Where a commit is still being built, the image that was applied may be from where the Repository was before. */
function runsImagesOf(environment: EphemeralEnvironment, repositories: ReturnType<typeof repositoriesOf>): boolean {
  return componentsOf(environment).every((component) => {
    const image = environment.status?.components?.[component]?.applied?.image;
    return image?.startsWith(`${repositories[component]?.spec.image.repository}:`) ?? false;
  });
}

/** What became of a planned credential. */
interface Answer extends PullEntry {
  readonly refusal?: Error;
}

interface Pulled {
  readonly findings?: Findings;
  /** Whether the secret manager could be asked, if it was: else another value may be there. */
  readonly isAnswered?: boolean;
}

/** @throws CredentialRefused, SecretManagerUnavailable, and what the cluster throws */
async function pullSecret(environment: EphemeralEnvironment, context: Looking): Promise<Pulled> {
  // Of a Repository that is missing nobody knows what it names: what pods have stays.
  if (repositoryProblem(environment, context) !== undefined) return {};
  const plan = pullPlan(repositoriesOf(environment, context.repositories));
  const { pullSecret: named = [], desiredHash } = environment.status ?? {};
  const isLook = context.isLook && plan.length + named.length > 0;
  const isKnown = ({ registry, source }: PullCredential) =>
    named.some((pull) => pull.registry === registry && pull.source === source);
  if (!isLook && plan.every(isKnown)) return {};
  const answers = await Promise.all(plan.map((planned) => answerTo(planned, context)));
  const isAnswered = !answers.some(({ refusal }) => refusal instanceof SecretManagerUnavailable);
  const isNews = answers.some((one) => one.credential !== undefined && !isKnown(one));
  if (!isLook && !isNews && desiredHash !== undefined) return { isAnswered };
  const found = await context.cluster.read(environment.metadata, secretKind, refOf(environment));
  const held = credentialsIn(found);
  const lacking = answers.find(({ refusal, registry }) => refusal !== undefined && !held.has(registry));
  if (lacking !== undefined && desiredHash === undefined) throw lacking.refusal;
  const { credentials, pullSecret } = pullContents(answers, named, held);
  await put(environment, credentials, found, context);
  return { findings: { pullSecret }, isAnswered };
}

const refOf = ({ metadata }: EphemeralEnvironment) => ({ name: PULL_SECRET, namespace: namespaceName(metadata.name) });

/** Each by itself: one that can't be had takes no other one away. */
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
 * Nobody may change it, and we have no right to: other contents take the place of what there is.
 *
 * @throws NotIsolated before anything is changed
 * @throws BeingDeleted when what there is has to go first, also what another operator put there in between
 */
async function put(
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
    const removal = await cluster.remove(metadata, secretKind, refOf(environment), found);
    if (removal.state === "removing") throw new BeingDeleted(removal.message);
  }
  if (desired === undefined || (await cluster.ensure(metadata, secretKind, desired)) === "created") return;
  const rival = await cluster.read(metadata, secretKind, refOf(environment));
  if (!isDeepStrictEqual(rival?.data, desired.data))
    throw new BeingDeleted(`Secret '${PULL_SECRET}' is another one than was to be made just now`);
}
