import type { Settings } from "../../config/settings.ts";
import type { ComponentValues, ConfigSet, ConfigSetSpec } from "../../crds/config-set.ts";
import { CREATED_BY_ANNOTATION } from "../../crds/group.ts";
import type { EnvironmentVariable } from "../../crds/overrides.schema.ts";
import { present } from "../../crds/present.ts";
import type { ComponentOverridesRequest } from "../schemas/config-overrides.ts";
import { toSleepRequest } from "../schemas/sleep.ts";
import type { ConfigSetReport } from "./schemas.ts";

const HIDDEN = "***";

/** Facts of a report beside the config set itself. */
export interface ConfigSetContext {
  readonly settings: Settings;
  /** Number of environments with a config set, by its name. */
  readonly uses: ReadonlyMap<string, number>;
  /** Variables that are never shown, even as plain text of a config set. */
  readonly secret: ReadonlySet<string>;
}

/** Config set in REST's form. */
export function toConfigSet({ metadata, spec }: ConfigSet, context: ConfigSetContext): ConfigSetReport {
  const { name, annotations } = metadata;
  const { description = "", production = false, ttlDefaultHours, sleep } = spec;
  return {
    id: name,
    name,
    description,
    is_default: context.settings.defaultConfigSet === name,
    version: metadata.generation,
    production,
    ...contentOf(withoutSecrets(spec, context.secret)),
    ...present({ ttl_default_hours: ttlDefaultHours }),
    ...(sleep === undefined ? {} : { sleep: toSleepRequest(sleep) }),
    used_by: context.uses.get(name) ?? 0,
    created_by: annotations?.[CREATED_BY_ANNOTATION] ?? "manifest",
    created_at: new Date(metadata.creationTimestamp).toISOString(),
    updated_at: updatedAt(metadata),
  };
}

/** Content with `***` for the text of secret variables. */
export function withoutSecrets(spec: ConfigSetSpec, secret: ReadonlySet<string>): ConfigSetSpec {
  const shown = (variable: EnvironmentVariable) =>
    variable.value !== undefined && secret.has(variable.name) ? { ...variable, value: HIDDEN } : variable;
  const { env, helmValues } = spec;
  const shownValues = (values: ComponentValues) =>
    values.env === undefined ? values : { ...values, env: values.env.map(shown) };
  return {
    ...spec,
    ...(env === undefined ? {} : { env: env.map(shown) }),
    ...(helmValues === undefined ? {} : { helmValues: mapped(helmValues, shownValues) }),
  };
}

function contentOf(spec: ConfigSetSpec) {
  const { helmValues = {}, env = [], sharedApiKeys = [], quota = {}, access = { groups: [] } } = spec;
  const { sizeGi, ...database } = spec.database ?? {};
  return {
    helm_values: mapped(helmValues, toComponentValues),
    env: env.map(({ secretRef, ...variable }) => ({
      ...variable,
      ...present({ secret_ref: secretRef }),
    })),
    shared_api_keys: sharedApiKeys.map(({ name, secretRef }) => ({ name, secret_ref: secretRef })),
    database: { ...database, ...present({ size_gi: sizeGi }) },
    quota,
    access,
  };
}

function toComponentValues({ env, ...values }: ComponentValues): ComponentOverridesRequest {
  if (env === undefined) return values as ComponentOverridesRequest;
  const byName = env.map(({ name, value = "", secretRef }) => [
    name,
    secretRef === undefined ? value : { secretKeyRef: secretRef },
  ]);
  return { ...values, env: Object.fromEntries(byName) } as ComponentOverridesRequest;
}

const mapped = <T>(values: NonNullable<ConfigSetSpec["helmValues"]>, of: (values: ComponentValues) => T) =>
  Object.fromEntries(Object.entries(values).map(([component, each]) => [component, of(each)]));

function updatedAt({ creationTimestamp, managedFields = [] }: ConfigSet["metadata"]): string {
  const moments = [creationTimestamp, ...managedFields.map(({ time = creationTimestamp }) => time)];
  return new Date(Math.max(...moments.map((moment) => Date.parse(moment)))).toISOString();
}
