import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { DATABASE_LOGIN } from "../../../../crds/repository/repository.ts";
import { Sensitive } from "../../../../crds/sensitive.ts";
import { networkPolicyKind, secretKind } from "../../../kit/client/kinds.ts";
import { BeingDeleted, type Cluster } from "../../../ports/cluster.ts";
import { COPY_SECRET, copyProblem } from "../backing-services/database-copy.ts";
import { type CopySources, openCopies, openSource } from "../database-copies.ts";
import { COPIES_POLICY, COPY_POLICY, copySecretObject } from "../desired/database-copy.ts";
import { refIn } from "../desired/namespace.ts";
import { desiredPodSecret } from "../desired/secret.ts";
import { type PlanSources, planInput } from "../plan-input.ts";
import type { StepContext } from "../step.ts";
import type { StepResult } from "../step-result.ts";
import { replaceSecret, withoutSecret } from "./further-secrets.ts";

interface CopyContext extends PlanSources, CopySources, StepContext {
  readonly cluster: Cluster;
}

/**
 * Ensures the Secret with which the Job of a copy logs in, after the pods' Secret with its `result`: the password that the
 * source's pods have.
 *
 * The policy of the copy is older, and outlives the Secret: so it is known where one may be left.
 */
export async function withCopySecret(
  environment: EphemeralEnvironment,
  result: StepResult,
  context: CopyContext,
): Promise<StepResult> {
  const source = openSource(environment, context);
  // After a failed request for secrets the environment goes on with its former ones.
  if (source === undefined || result.state === "waiting") return result;
  if (copyProblem(source.metadata.name, planInput(environment, context)) !== undefined) return result;
  try {
    await ensureCopySecret(environment, source, context);
    return result;
  } catch (error) {
    return withoutSecret(result, error);
  }
}

/** @throws NotIsolated, BeingDeleted, and errors of the cluster */
async function ensureCopySecret(
  environment: EphemeralEnvironment,
  source: EphemeralEnvironment,
  context: CopyContext,
): Promise<void> {
  const password = await passwordOf(source, context.cluster);
  if (password === undefined) throw new BeingDeleted(`the Secret of environment '${source.metadata.name}' is replaced`);
  const stored = await context.cluster.read(environment.metadata, secretKind, refIn(environment, COPY_SECRET));
  const desired = copySecretObject(environment, password);
  await replaceSecret(environment, { name: COPY_SECRET, stored, desired }, context);
}

/** The password that the database of an environment was started with, or is to be started with next. */
async function passwordOf(source: EphemeralEnvironment, cluster: Cluster): Promise<Sensitive | undefined> {
  const secret = await cluster.read(source.metadata, secretKind, refIn(source, desiredPodSecret(source)));
  const encoded = (secret?.data as Readonly<Record<string, string>> | undefined)?.[DATABASE_LOGIN.name];
  return encoded === undefined ? undefined : new Sensitive(Buffer.from(encoded, "base64").toString());
}

/** Ends the copies that are made, or no longer asked for: removes the Secret before the policies that show it. */
export async function endCopies(environment: EphemeralEnvironment, context: CopyContext): Promise<void> {
  const { cluster } = context;
  const { metadata } = environment;
  const ref = (name: string) => refIn(environment, name);
  const isLeft = (name: string) => cluster.observe(metadata, networkPolicyKind, ref(name)) !== undefined;
  if (openCopies(environment, context).length === 0 && isLeft(COPIES_POLICY)) {
    await cluster.remove(metadata, networkPolicyKind, ref(COPIES_POLICY));
  }
  // Until it is stored that the copy is made, another process would go on with it.
  const stored = context.environment(metadata.name) ?? environment;
  const isOpen = [environment, stored].some((one) => openSource(one, context) !== undefined);
  if (isOpen || !isLeft(COPY_POLICY)) return;
  const { state } = await cluster.remove(metadata, secretKind, ref(COPY_SECRET));
  if (state === "gone") await cluster.remove(metadata, networkPolicyKind, ref(COPY_POLICY));
}
