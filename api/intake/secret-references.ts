import type { ConfigSet } from "../../crds/config-set.ts";
import { SecretsUnavailable, type Violation } from "../../crds/errors.ts";
import { admits } from "../../crds/repository.ts";
import { isSharedWith } from "../../crds/secret-sharing.ts";
import type { Caller } from "../auth/callers.ts";
import { Refusal } from "../refusals.ts";
import { currentRequestId } from "../request-scope.ts";
import type { Platform } from "../route.ts";
import type { ReferredVariable } from "./config-overrides.ts";

interface Judgement {
  /** What refers to the secrets, by its kind and name: for the log. */
  readonly referrer: Readonly<Record<string, string>>;
  /** The groups that it will be shared with. */
  readonly groups: readonly string[];
  readonly caller: Caller;
  readonly platform: Pick<Platform, "settings" | "secretManager" | "log">;
}

/**
 * The references that the settings don't allow to these groups. What is absent and what is somebody
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

async function judge({ variable, name, field }: ReferredVariable, judgement: Judgement): Promise<Violation[]> {
  if (await isShared(variable, name, judgement)) return [];
  return [{ field, message: "names no secret that is shared with this environment's groups" }];
}

/**
 * Shared API keys are for environments that have a group in common with the config set, and with those whom the
 * settings share every one of the keys with.
 *
 * @throws Refusal (forbidden), SecretsUnavailable when a secret's labels can't be asked for
 */
export async function checkSharedKeys(configSet: ConfigSet | undefined, judgement: Judgement): Promise<void> {
  const keys = configSet?.spec.sharedApiKeys ?? [];
  const isAdmitted = configSet !== undefined && admits(configSet, judgement.groups);
  const shared = await Promise.all(keys.map(({ name, secretRef }) => isShared(name, secretRef.name, judgement)));
  if (isAdmitted && shared.every(Boolean)) return;
  throw new Refusal("forbidden", "The environment has no group in common with those that share the API keys");
}

async function isShared(variable: string, id: string, judgement: Judgement): Promise<boolean> {
  const { referrer, groups, caller, platform } = judgement;
  const { settings, secretManager, log } = platform;
  const labelsOf = async () => (await secretManager.shared(id).catch(unavailable))?.labels;
  const isAllowed = await isSharedWith(settings.secrets, groups, { id, labelsOf });
  const facts = { requestId: currentRequestId(), subject: caller.subject, ...referrer };
  if (!isAllowed) log.warn("a reference to a secret was refused", { ...facts, variable, secret: id });
  return isAllowed;
}

function unavailable(cause: unknown): never {
  throw new SecretsUnavailable({ cause });
}
