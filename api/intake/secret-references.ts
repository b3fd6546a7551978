import { SecretsUnavailable, type Violation } from "../../crds/errors.ts";
import { isSharedWith } from "../../crds/secret-sharing.ts";
import type { Caller } from "../auth/callers.ts";
import { currentRequestId } from "../request-id.ts";
import type { Platform } from "../route.ts";
import type { ReferredVariable } from "./config-overrides.ts";

interface Judgement {
  readonly request: { readonly environment_name: string };
  /** The groups that the environment will be shared with. */
  readonly groups: readonly string[];
  readonly caller: Caller;
  readonly platform: Pick<Platform, "settings" | "secretManager" | "log">;
}

/**
 * The references that the settings don't allow to an environment of these groups. What is absent and what is somebody
 * else's look alike, no value is read, and every refusal is logged.
 *
 * @throws SecretsUnavailable when a secret's labels can't be asked for
 */
export async function refusedReferences(
  references: readonly ReferredVariable[],
  judgement: Judgement,
): Promise<Violation[]> {
  const judged = await Promise.all(references.map((reference) => judge(reference, judgement)));
  return judged.flat();
}

async function judge(reference: ReferredVariable, judgement: Judgement): Promise<Violation[]> {
  const { request, groups, caller, platform } = judgement;
  if (await isShared(reference.name, groups, platform)) return [];
  platform.log.warn("a reference to a secret was refused", {
    requestId: currentRequestId(),
    subject: caller.subject,
    environment: request.environment_name,
    variable: reference.variable,
    secret: reference.name,
  });
  return [{ field: reference.field, message: "names no secret that is shared with this environment's groups" }];
}

/**
 * Whether the settings share the secret with an environment of these groups.
 *
 * @throws SecretsUnavailable when its labels can't be asked for
 */
export function isShared(
  id: string,
  groups: readonly string[],
  { settings, secretManager }: Judgement["platform"],
): Promise<boolean> {
  const labelsOf = async () => (await secretManager.shared(id).catch(unavailable))?.labels;
  return isSharedWith(settings.secrets.shared, groups, { id, labelsOf });
}

export function unavailable(cause: unknown): never {
  throw new SecretsUnavailable({ cause });
}
