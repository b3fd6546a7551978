import { findCondition } from "../../../crds/conditions.ts";
import { sha256 } from "../../../crds/digest.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { creationMark, type IdempotencyRecord } from "../../../crds/environment/idempotency-record.ts";
import { ConfigInvalid, SecretsUnavailable } from "../../../crds/errors.ts";
import { COMPONENTS } from "../../../crds/names.ts";
import { Sensitive } from "../../../crds/sensitive.ts";
import type { Caller } from "../../auth/access.ts";
import { HttpError } from "../../errors.ts";
import { addAuditObject } from "../../request-context.ts";
import type { ConfigOverrides } from "../../schemas/config-overrides.ts";
import type { Services } from "../../services.ts";
import { type DesiredEnvironment, desiredEnvironment } from "./intake.ts";
import type { CreateReportRequest } from "./schemas.ts";

interface Creation {
  readonly body: CreateReportRequest;
  readonly caller: Caller;
  /** Value of `Idempotency-Key`: a retry gets the first request's environment. */
  readonly key: string | undefined;
}

type CreationServices = Parameters<typeof desiredEnvironment>[2] & Pick<Services, "environments" | "quotas">;
type Persistence = Pick<Services, "environments" | "secretManager" | "log">;

/**
 * Creates the environment, once for a key: a retry gets the first result, even after changes of Repositories or
 * settings.
 *
 * @throws like `desiredEnvironment` and `Environments.create`; HttpError (conflict) for a key that another request used
 * and for a Repository whose quota is spent; SecretsUnavailable when the provided values can't be written
 */
export async function createFromRequest(creation: Creation, services: CreationServices): Promise<EphemeralEnvironment> {
  const { body, caller, key } = creation;
  const record = key === undefined ? undefined : idempotencyRecord(key, body, caller);
  const earlier = record && services.environments.madeWith(record.key);
  const environment =
    earlier !== undefined && record !== undefined
      ? await resume(earlier, { body, record }, services)
      : await createNew(creation, services, record);
  return addAuditObject(environment);
}

async function createNew({ body, caller }: Creation, services: CreationServices, record?: IdempotencyRecord) {
  const desired = await desiredEnvironment(body, caller, services);
  const release = services.quotas.reserve(desired);
  return persist(desired, services, record).finally(release);
}

/** Idempotency record of a creation; it differs for another caller's same key. */
export function idempotencyRecord(
  key: string,
  body: CreateReportRequest,
  caller: Pick<Caller, "subject">,
): IdempotencyRecord {
  return { key: hash([caller.subject, key]), request: hash(comparable(body)) };
}

const hash = (value: unknown) => sha256(JSON.stringify(value), "base64url");

/**
 * Parts that a retry has to repeat, in any order: all but the text of variables. It may be a secret, and a short one
 * can be guessed from its hash in the resource.
 */
function comparable(value: unknown, isOfVariables = false): unknown {
  if (Array.isArray(value)) return value.map((item) => comparable(item));
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(([name, field]) => {
    const isText = isOfVariables && typeof field === "string";
    return [name, isText ? "" : comparable(field, name === "env")] as const;
  });
  return fields.sort(([one], [other]) => (one < other ? -1 : 1));
}

/** @throws HttpError (conflict) when another request with the key created the environment */
function checkSameRequest(environment: EphemeralEnvironment, record: IdempotencyRecord): void {
  if (creationMark(environment)?.request === record.request) return;
  throw new HttpError(
    "conflict",
    `Idempotency-Key: another request with this key made the environment '${environment.metadata.name}'; use a new key`,
  );
}

/** Completes an earlier request, which may lack its provided values. */
async function resume(
  environment: EphemeralEnvironment,
  { body, record }: { readonly body: CreateReportRequest; readonly record: IdempotencyRecord },
  services: Persistence,
): Promise<EphemeralEnvironment> {
  checkSameRequest(environment, record);
  if (!awaitsValues(environment)) return environment;
  const provided = providedValues(body.config_overrides, environment.spec.secrets?.provided ?? []);
  return storeValues(environment, provided, services);
}

function providedValues(
  overrides: ConfigOverrides | undefined,
  variables: readonly string[],
): DesiredEnvironment["provided"] {
  const given = new Map(
    COMPONENTS.flatMap((component) => Object.entries(overrides?.helm_values?.[component]?.env ?? {})),
  );
  const values = variables.map((name) => {
    const value = given.get(name);
    if (typeof value === "string" && value !== "") return [name, new Sensitive(value)] as const;
    throw new ConfigInvalid([{ field: "config_overrides", message: `must give ${name}: it is a secret` }]);
  });
  return new Map(values);
}

/** True until the operator has found the provided values; it never reads them again. */
function awaitsValues({ metadata, spec, status }: EphemeralEnvironment): boolean {
  if (metadata.deletionTimestamp !== undefined || (spec.secrets?.provided ?? []).length === 0) return false;
  return findCondition(status?.conditions, "SecretsReady")?.status !== "True";
}

/**
 * Creates the resource, then writes the provided values into the secret manager under its UID, which only the API
 * server can choose. After a crash in between, the operator gives up waiting for them.
 */
export async function persist(
  { name, spec, provided }: DesiredEnvironment,
  services: Persistence,
  record?: IdempotencyRecord,
): Promise<EphemeralEnvironment> {
  const environment = await services.environments.create(name, spec, record);
  if (record !== undefined) checkSameRequest(environment, record);
  if (!awaitsValues(environment)) return environment;
  const storing = storeValues(environment, provided, services);
  // With a key the environment stays: an earlier request may have created it, and a retry goes on.
  if (record === undefined) await storing.catch(() => withdraw(environment, services));
  return storing;
}

async function storeValues(
  environment: EphemeralEnvironment,
  provided: DesiredEnvironment["provided"],
  { secretManager, log }: Persistence,
): Promise<EphemeralEnvironment> {
  const requests = [...provided].map(([variable, value]) => ({ name: variable, version: 1, generate: () => value }));
  try {
    await secretManager.ensure(environment.metadata, requests);
  } catch (cause) {
    log.warn("provided secrets could not be written", { environment: environment.metadata.name, error: cause });
    throw new SecretsUnavailable({ cause });
  }
  return environment;
}

async function withdraw(environment: EphemeralEnvironment, { environments, log }: Persistence): Promise<void> {
  await environments.remove(environment).catch((error: unknown) => {
    const facts = { environment: environment.metadata.name, error };
    log.warn("an environment without its provided secrets could not be removed", facts);
  });
}
