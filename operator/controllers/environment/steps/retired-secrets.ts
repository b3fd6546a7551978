import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { insteadOf } from "../../../kit/client/errors.ts";
import { secretKind } from "../../../kit/client/kinds.ts";
import { refIn } from "../desired/namespace.ts";
import { errorResult } from "../error-results.ts";
import type { StepContext } from "../step.ts";
import type { Findings } from "../step-result.ts";
import { retirePulls } from "./pull-secret.ts";

/** Removes Secrets of former pods, once only pods with the desired values run and their URLs have answered. */
export async function retireSecrets(
  environment: EphemeralEnvironment,
  context: StepContext,
): Promise<Findings<"podSecrets" | "pullSecret">> {
  if (!runsAlone(environment, context)) return {};
  const podSecrets = await retirePodSecrets(environment, context);
  // A failure affects no running pod: a later reconcile tries again.
  const isExpected = (error: unknown) => errorResult(error) !== undefined;
  return { ...podSecrets, ...(await retirePulls(environment, context).catch(insteadOf(isExpected, {}))) };
}

function runsAlone({ status }: EphemeralEnvironment, { earlier }: StepContext): boolean {
  return earlier.get("ApplicationSynced")?.state === "done" && status?.servingHash === status?.desiredHash;
}

async function retirePodSecrets(
  environment: EphemeralEnvironment,
  { cluster }: StepContext,
): Promise<Findings<"podSecrets">> {
  const names = environment.status?.podSecrets ?? [];
  if (names.length < 2) return {};
  const former = names.slice(0, -1).map(async (name) => {
    const { state } = await cluster.remove(environment.metadata, secretKind, refIn(environment, name));
    return state === "gone" ? [] : [name];
  });
  return { podSecrets: [...(await Promise.all(former)).flat(), ...names.slice(-1)] };
}
