import { clipped, findCondition, type Judgement, transition } from "../../crds/conditions.ts";
import type { EnvironmentStatus, EphemeralEnvironment } from "../../crds/ephemeral-environment.ts";
import { namespaceName } from "../../crds/names.ts";
import { namespaceKind } from "../kinds.ts";
import type { Cluster, Removal } from "../ports/cluster.ts";
import type { Deployer } from "../ports/deployer.ts";
import type { SecretManager } from "../ports/secret-manager.ts";
import { refusalResult, retrying } from "./refusals.ts";

export interface TeardownContext {
  readonly cluster: Cluster;
  readonly deployer: Deployer;
  readonly secretManager: SecretManager;
  /** Aborts when the pass may do no more. */
  readonly signal: AbortSignal;
}

export type TeardownSteps = NonNullable<EnvironmentStatus["teardown"]>["steps"];

interface TeardownStep {
  readonly name: string;
  readonly remove: (environment: EphemeralEnvironment, context: TeardownContext) => Promise<Removal>;
}

/**
 * The way back, in reverse: the deployer first, or it would heal what is deleted below it; the secret manager before
 * the namespace, so that no value outlives the last trace of whose it was.
 */
const STEPS: readonly TeardownStep[] = [
  { name: "application", remove: ({ metadata }, { deployer }) => deployer.remove(metadata) },
  { name: "secrets", remove: removeSecrets },
  {
    name: "namespace",
    remove: ({ metadata }, { cluster }) =>
      cluster.remove(metadata, namespaceKind, { name: namespaceName(metadata.name) }),
  },
];

async function removeSecrets({ metadata }: EphemeralEnvironment, { secretManager }: TeardownContext): Promise<Removal> {
  await secretManager.remove(metadata);
  const left = await secretManager.holdsAny(metadata);
  return left ? { state: "removing", message: "the secret manager still holds entries" } : { state: "gone" };
}

/** How far a teardown came; an error is transient and asks for another pass. */
export interface Teardown {
  readonly steps: TeardownSteps;
  readonly error: unknown;
}

/** Goes as far as it can: a step begins when the one before is verified gone. Done when every step is `gone`. */
export async function tearDown(environment: EphemeralEnvironment, context: TeardownContext): Promise<Teardown> {
  const steps: TeardownSteps = STEPS.map(({ name }) => ({ name, state: "pending" }));
  for (const [index, { name, remove }] of STEPS.entries()) {
    context.signal.throwIfAborted();
    const { removal, error } = await attempt(() => remove(environment, context));
    if (removal.state === "removing") {
      steps[index] = { name, state: "waiting", message: clipped(removal.message) };
      return { steps, error };
    }
    steps[index] = { name, state: "gone" };
  }
  return { steps, error: undefined };
}

/** A step that fails is shown as what the teardown waits for, before anybody tries again. */
async function attempt(remove: () => Promise<Removal>): Promise<{ removal: Removal; error: unknown }> {
  try {
    return { removal: await remove(), error: undefined };
  } catch (error) {
    const { message } = refusalResult(error) ?? retrying(error);
    return { removal: { state: "removing", message }, error };
  }
}

/** The status of an environment on its way out: `terminating` names what it waits for. */
export function terminatingStatus(
  environment: EphemeralEnvironment,
  steps: TeardownSteps,
  now: Date,
): EnvironmentStatus {
  const { status, metadata } = environment;
  const awaited = steps.find(({ state }) => state === "waiting");
  const judgement: Judgement = {
    type: "Ready",
    status: "False",
    reason: "Terminating",
    message: awaited ? clipped(`waiting for ${awaited.name}: ${awaited.message ?? ""}`) : "",
    observedGeneration: metadata.generation,
  };
  const others = (status?.conditions ?? []).filter(({ type }) => type !== "Ready");
  const conditions = [...others, transition(findCondition(status?.conditions, "Ready"), judgement, now)];
  return { ...status, phase: "terminating", conditions, teardown: { steps } };
}
