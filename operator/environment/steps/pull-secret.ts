import { isDeepStrictEqual } from "node:util";
import type { EphemeralEnvironment } from "../../../crds/ephemeral-environment.ts";
import { namespaceName } from "../../../crds/names.ts";
import type { Sensitive } from "../../../crds/sensitive.ts";
import { secretKind } from "../../kinds.ts";
import type { DesiredObject, ObservedObject } from "../../ports/cluster.ts";
import { SecretManagerUnavailable } from "../../ports/secret-manager.ts";
import { CredentialRefused, pullCredential } from "../../repository/host-credentials.ts";
import { type PlannedPull, PULL_SECRET, pullPlan, pullSecretObject, pullStatus } from "../desired/pull-secret.ts";
import { refusalOf } from "../refusals.ts";
import { missingRepository, repositoriesOf } from "../repositories.ts";
import type { Findings, StepContext, StepResult } from "../step.ts";

/** What a pass over Secrets has. */
export interface Looking extends StepContext {
  /** Whether what the status names is to be looked for in this pass; else the status is believed. */
  readonly isLook: boolean;
}

/**
 * Has the Secret in the namespace that the environment's images are pulled with, as its Repositories name it by now;
 * beside the pods' own, which `result` tells of: while that may still come, nothing is made that would need this one.
 *
 * It follows what the secret manager holds, because the kubelet reads it for every pull: a new value needs no new pods.
 */
export async function withPullSecret(
  environment: EphemeralEnvironment,
  result: StepResult,
  context: Looking,
): Promise<StepResult> {
  const podSecrets = result.findings?.podSecrets ?? environment.status?.podSecrets ?? [];
  if (result.state === "waiting" || podSecrets.length === 0) return result;
  try {
    const found = await pullSecret(environment, context);
    return { ...result, findings: { ...result.findings, ...found } };
  } catch (error) {
    if (!(error instanceof CredentialRefused)) throw error;
    return result.state === "failed" ? result : { ...refusalOf(error), findings: result.findings ?? {} };
  }
}

/** @throws CredentialRefused */
async function pullSecret(environment: EphemeralEnvironment, context: Looking): Promise<Findings> {
  const repositories = repositoriesOf(environment, context.repositories);
  // Of a Repository that is missing nobody knows what it names: what pods have stays.
  if (missingRepository(environment, repositories) !== undefined) return {};
  const plan = pullPlan(repositories);
  const named = environment.status?.pullSecret ?? [];
  if (plan.length === 0) return named.length === 0 ? {} : drop(environment, context);
  const isNamed = isDeepStrictEqual(named, pullStatus(plan));
  if (isNamed && !context.isLook) return {};
  const found = await context.cluster.read(environment.metadata, secretKind, refOf(environment));
  const credentials = await credentialsOf(plan, context, isNamed && found !== undefined);
  if (credentials !== undefined) await put(environment, pullSecretObject(environment, credentials), found, context);
  return { pullSecret: pullStatus(plan) };
}

const refOf = ({ metadata }: EphemeralEnvironment) => ({ name: PULL_SECRET, namespace: namespaceName(metadata.name) });

async function drop(environment: EphemeralEnvironment, { cluster }: StepContext): Promise<Findings> {
  const { state } = await cluster.remove(environment.metadata, secretKind, refOf(environment));
  return state === "gone" ? { pullSecret: [] } : {};
}

/**
 * By registry; `undefined` when they can't be had now, and what there is will do: that a credential is gone is told by
 * its Repository, once, and fails nothing that runs.
 */
async function credentialsOf(
  plan: readonly PlannedPull[],
  context: StepContext,
  mayStay: boolean,
): Promise<ReadonlyMap<string, Sensitive> | undefined> {
  try {
    const read = plan.map(async ({ registry, repository }) => {
      const credential = await pullCredential(repository, context);
      return credential === undefined ? [] : [[registry, credential] as const];
    });
    return new Map((await Promise.all(read)).flat());
  } catch (error) {
    const isNoCredential = error instanceof SecretManagerUnavailable || error instanceof CredentialRefused;
    if (mayStay && isNoCredential) return undefined;
    throw error;
  }
}

/** Nobody may change it, and we have no right to: other contents take the place of what there is. */
async function put(
  environment: EphemeralEnvironment,
  desired: DesiredObject,
  found: ObservedObject | undefined,
  { cluster }: StepContext,
): Promise<void> {
  if (found !== undefined && isDeepStrictEqual(found.data, desired.data)) return;
  if (found !== undefined) await cluster.remove(environment.metadata, secretKind, refOf(environment));
  await cluster.ensure(environment.metadata, secretKind, desired);
}
