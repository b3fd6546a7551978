import type { ComponentValues, ConfigSetSpec } from "../../crds/config-set.ts";
import { ConfigInvalid, type Violation } from "../../crds/errors.ts";
import { COMPONENTS } from "../../crds/names.ts";
import { type EnvironmentVariable, PORT_VARIABLE } from "../../crds/overrides.schema.ts";
import { present } from "../../crds/present.ts";
import { secretNames } from "../../crds/repository/repository.ts";
import type { Caller } from "../auth/access.ts";
import { type ReferredVariable, unsharedReferences } from "../auth/secret-references.ts";
import { MAX_FINDINGS } from "../input/validation.ts";
import type { ComponentOverridesRequest } from "../schemas/config-overrides.ts";
import { sleepViolations, sleepWishOf } from "../schemas/sleep.ts";
import type { Services } from "../services.ts";
import type { ConfigSetContent } from "./schemas.ts";

type ConfigSetVariable = NonNullable<ConfigSetContent["env"]>[number];
type IntakeServices = Pick<Services, "settings" | "repositories" | "secretManager" | "log">;

interface Writing {
  readonly caller: Caller;
  readonly services: IntakeServices;
  readonly former?: ConfigSetSpec;
}

interface Placed extends EnvironmentVariable {
  readonly field: string;
  /** Path of the secret's id, if there is one. */
  readonly idField: string;
}

/**
 * Spec for a request: REST names become the spec's, and empty fields are left out, so that writing a config set back
 * changes nothing.
 *
 * @param name of the config set
 * @throws ConfigInvalid with everything that is wrong, SecretsUnavailable when a secret's labels can't be read
 */
export async function configSetSpec(
  name: string,
  request: ConfigSetContent,
  { caller, services, former }: Writing,
): Promise<ConfigSetSpec> {
  const variables = variablesOf(request);
  const keys = (request.shared_api_keys ?? []).map((key, at) => placed(key, `shared_api_keys.${at}`));
  const referrer = { referrer: { configSet: name }, caller, services };
  const { kept = [], added = [] } = Object.groupBy([...variables, ...keys].flatMap(referred), (reference) =>
    former !== undefined && refersTo(former, reference) ? "kept" : "added",
  );
  const unshared = [
    ...(await unsharedReferences(kept, { ...referrer, groups: everyGroup(services) })),
    ...(await unsharedReferences(added, { ...referrer, groups: caller.groups })),
  ];
  const violations = [
    ...givenTwice(request, "env"),
    ...givenTwice(request, "shared_api_keys"),
    ...inPlainText(variables, services),
    ...ofThePlatform(variables),
    ...sleepViolations(request.sleep),
    ...lossyNumbers(request.helm_values, "helm_values"),
    ...unshared.map(({ field }) => ({
      field,
      message: "names no secret that the settings share with a group of yours",
    })),
  ];
  if (violations.length > 0) throw new ConfigInvalid(violations.slice(0, MAX_FINDINGS));
  // REST lacks these fields: values written with kubectl stay.
  const values = present({ values: former?.values });
  return { ...toSpec(request), ...values };
}

/** Existing references are checked again with each environment. */
function everyGroup({ settings }: IntakeServices): string[] {
  return settings.secrets.shared.flatMap(({ groups }) => groups);
}

function variablesOf({ env = [], helm_values = {} }: ConfigSetContent): Placed[] {
  const ofComponents = COMPONENTS.flatMap((component) =>
    listed(helm_values[component]).map((variable) => ({
      ...variable,
      field: `helm_values.${component}.env.${variable.name}`,
      idField: `helm_values.${component}.env.${variable.name}.secretKeyRef.name`,
    })),
  );
  return [...env.map((variable, at) => placed(variable, `env.${at}`)), ...ofComponents];
}

function placed(variable: ConfigSetVariable, field: string): Placed {
  return { ...toVariable(variable), field, idField: `${field}.secret_ref.name` };
}

function toVariable({ secret_ref, ...variable }: ConfigSetVariable): EnvironmentVariable {
  return secret_ref === undefined ? variable : { ...variable, secretRef: secret_ref };
}

function listed({ env = {} }: ComponentOverridesRequest = {}): EnvironmentVariable[] {
  return Object.entries(env).map(([name, value]) =>
    typeof value === "string" ? { name, value } : { name, secretRef: value.secretKeyRef },
  );
}

function referred({ name, secretRef, idField }: Placed): ReferredVariable[] {
  return secretRef === undefined ? [] : [{ ...secretRef, variable: name, field: idField }];
}

function refersTo({ env = [], helmValues, sharedApiKeys = [] }: ConfigSetSpec, reference: ReferredVariable): boolean {
  const all = [...env, ...COMPONENTS.flatMap((component) => helmValues?.[component]?.env ?? []), ...sharedApiKeys];
  return all.some(
    ({ name, secretRef }) =>
      name === reference.variable && secretRef?.name === reference.name && secretRef.key === reference.key,
  );
}

function givenTwice(request: ConfigSetContent, list: "env" | "shared_api_keys"): Violation[] {
  const names = (request[list] ?? []).map(({ name }) => name);
  return names.flatMap((name, at) =>
    names.indexOf(name) === at ? [] : [{ field: `${list}.${at}.name`, message: `${name} is given twice` }],
  );
}

/** JavaScript's rounding would change these numbers on their way to the chart. */
function lossyNumbers(value: unknown, field: string): Violation[] {
  if (typeof value === "number" && !isKept(value))
    return [{ field: field.slice(0, 300), message: "must be a number that keeps all its digits" }];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => lossyNumbers(child, `${field}.${key}`));
}

const isKept = (value: number) => Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));

/** All users of a config set may read its values. */
function inPlainText(variables: readonly Placed[], { repositories }: IntakeServices): Violation[] {
  const secret = secretNames(repositories.list());
  return variables
    .filter(({ name, value }) => value !== undefined && secret.has(name))
    .map(({ name, field }) => ({ field, message: `${name} is a secret: refer to where the secret manager has it` }));
}

function ofThePlatform(variables: readonly Placed[]): Violation[] {
  return variables
    .filter(({ name }) => name === PORT_VARIABLE)
    .map(({ name, field }) => ({ field, message: `${name} is what the platform sets: change port of the Repository` }));
}

function toSpec(request: ConfigSetContent): ConfigSetSpec {
  const {
    description,
    production,
    ttl_default_hours,
    access,
    quota,
    sleep,
    database: { size_gi, ...database } = {},
  } = request;
  const keys = (request.shared_api_keys ?? []).map(({ name, secret_ref }) => ({ name, secretRef: secret_ref }));
  const content = filled({
    description,
    production: production || undefined,
    helmValues: filled({
      backend: toComponentValues(request.helm_values?.backend),
      frontend: toComponentValues(request.helm_values?.frontend),
    }),
    env: (request.env ?? []).map(toVariable),
    sharedApiKeys: keys,
    database: filled({ ...database, sizeGi: size_gi }),
    quota: quota ?? {},
    ttlDefaultHours: ttl_default_hours,
    access: access?.groups.length ? access : undefined,
  });
  // Also an empty one, which is never.
  return sleep === undefined ? content : { ...content, sleep: sleepWishOf(sleep) };
}

function toComponentValues(values: ComponentOverridesRequest = {}): ComponentValues {
  const { env: _, ...others } = values;
  return { ...others, ...filled({ env: listed(values) }) };
}

/** Drops empty fields: the API server would keep them as a change. */
function filled<T extends object>(fields: T): { [field in keyof T]?: Exclude<T[field], undefined> } {
  const isSaid = ([, value]: [string, unknown]) =>
    value !== undefined &&
    value !== "" &&
    (typeof value !== "object" || value === null || Object.keys(value).length > 0);
  return Object.fromEntries(Object.entries(fields).filter(isSaid)) as ReturnType<typeof filled<T>>;
}

const REST_NAMES: Readonly<Record<string, string>> = {
  helmValues: "helm_values",
  sharedApiKeys: "shared_api_keys",
  secretRef: "secret_ref",
  sizeGi: "size_gi",
  ttlDefaultHours: "ttl_default_hours",
  timeZone: "time_zone",
};

/** Error of the API server, with the request's fields. */
export function inRestNames(error: unknown): unknown {
  if (!(error instanceof ConfigInvalid)) return error;
  return new ConfigInvalid(
    error.violations.map(({ field, message }) => ({ field: restField(field), message: message.slice(0, 500) })),
  );
}

function restField(path: string): string {
  const parts = path.replaceAll(/\[(\d+)\]/g, ".$1").split(".");
  const inRequest = parts[0] === "spec" || parts[0] === "metadata" ? parts.slice(1) : parts;
  return inRequest.map((part) => (Object.hasOwn(REST_NAMES, part) ? REST_NAMES[part] : part)).join(".");
}
