import { isDeepStrictEqual } from "node:util";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { isConflict } from "../../../kit/client/errors.ts";
import { secretKind } from "../../../kit/client/kinds.ts";
import { BeingDeleted, type Cluster, type DesiredObject, type ObservedObject } from "../../../ports/cluster.ts";
import { refIn } from "../desired/namespace.ts";
import { errorResult, retrying } from "../error-results.ts";
import type { StepContext } from "../step.ts";
import { type StepResult, withFindings } from "../step-result.ts";
import { whenIsolated } from "./isolation.ts";

/** A Secret beside the pods' one, as it is and as it should be. */
interface FurtherSecret {
  readonly name: string;
  readonly stored: ObservedObject | undefined;
  /** Absent: it should not be there. */
  readonly desired: DesiredObject | undefined;
}

/**
 * Replaces an immutable Secret when its content differs.
 *
 * @throws NotIsolated before any change
 * @throws BeingDeleted when the existing one, or that of another operator, must be gone first
 */
export async function replaceSecret(
  environment: EphemeralEnvironment,
  { name, stored, desired }: FurtherSecret,
  context: StepContext & { readonly cluster: Cluster },
): Promise<void> {
  const { cluster } = context;
  const { metadata } = environment;
  const ref = refIn(environment, name);
  if (isDeepStrictEqual(stored?.data, desired?.data)) return;
  await whenIsolated(context);
  if (stored !== undefined) {
    const removal = await cluster.remove(metadata, secretKind, ref, stored);
    if (removal.state === "removing") throw new BeingDeleted(removal.message);
  }
  if (desired === undefined || (await cluster.ensure(metadata, secretKind, desired)) === "created") return;
  const other = await cluster.read(metadata, secretKind, ref);
  if (!isDeepStrictEqual(other?.data, desired.data))
    throw new BeingDeleted(`Secret '${name}' was replaced by another operator`);
}

/** Result without such a Secret, with the findings of the pods' one, which would be made again without them. */
export function withoutSecret(result: StepResult, error: unknown): StepResult {
  const refusal = errorResult(error);
  if (refusal !== undefined) return result.state === "failed" ? result : withFindings(refusal, { ...result.findings });
  if (isConflict(error)) throw error;
  return withFindings({ ...retrying(error), error }, { ...result.findings });
}
