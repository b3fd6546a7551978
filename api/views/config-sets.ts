import type { Settings } from "../../config/settings.ts";
import type { ComponentValues, ConfigSet, ConfigSetSpec } from "../../crds/config-set.ts";
import type { EnvironmentVariable } from "../../crds/ephemeral-environment.schema.ts";
import { CREATED_BY_ANNOTATION } from "../../crds/group.ts";
import type { ComponentOverridesRequest } from "../schemas/config-overrides.ts";
import type { ConfigSetReport } from "../schemas/config-sets.ts";

/** What stands where the value of a secret would. */
const HIDDEN = "***";

/** What a report tells beside the config set itself. */
export interface ConfigSetContext {
  readonly settings: Pick<Settings, "defaultConfigSet">;
  /** How many environments have a config set, by its name. */
  readonly uses: ReadonlyMap<string, number>;
  /** Variables whose values are never shown, whoever wrote them down in plain text. */
  readonly secret: ReadonlySet<string>;
}

/** A config set as the interface reports it. */
export function toConfigSet({ metadata, spec }: ConfigSet, context: ConfigSetContext): ConfigSetReport {
  const { name, annotations } = metadata;
  const { description = "", production = false, ttlDefaultHours } = spec;
  return {
    id: name,
    name,
    description,
    is_default: context.settings.defaultConfigSet === name,
    version: metadata.generation,
    production,
    ...contentOf(spec, context.secret),
    ...(ttlDefaultHours === undefined ? {} : { ttl_default_hours: ttlDefaultHours }),
    used_by: context.uses.get(name) ?? 0,
    created_by: annotations?.[CREATED_BY_ANNOTATION] ?? "manifest",
    created_at: new Date(metadata.creationTimestamp).toISOString(),
    updated_at: updatedAt(metadata),
  };
}

function contentOf(spec: ConfigSetSpec, secret: ReadonlySet<string>) {
  const { helmValues = {}, env = [], sharedApiKeys = [], quota = {}, access = { groups: [] } } = spec;
  const { sizeGi, ...database } = spec.database ?? {};
  const shown = (variable: EnvironmentVariable) => withoutSecret(variable, secret);
  return {
    helm_values: Object.fromEntries(
      Object.entries(helmValues).map(([component, values]) => [component, toComponentValues(values, shown)]),
    ),
    env: env.map(shown).map(({ secretRef, ...variable }) => ({
      ...variable,
      ...(secretRef === undefined ? {} : { secret_ref: secretRef }),
    })),
    shared_api_keys: sharedApiKeys.map(({ name, secretRef }) => ({ name, secret_ref: secretRef })),
    database: { ...database, ...(sizeGi === undefined ? {} : { size_gi: sizeGi }) },
    quota,
    access,
  };
}

function toComponentValues(
  { env, ...values }: ComponentValues,
  shown: (variable: EnvironmentVariable) => EnvironmentVariable,
): ComponentOverridesRequest {
  if (env === undefined) return values as ComponentOverridesRequest;
  const byName = env
    .map(shown)
    .map(({ name, value = "", secretRef }) => [name, secretRef === undefined ? value : { secretKeyRef: secretRef }]);
  return { ...values, env: Object.fromEntries(byName) } as ComponentOverridesRequest;
}

function withoutSecret(variable: EnvironmentVariable, secret: ReadonlySet<string>): EnvironmentVariable {
  return variable.value !== undefined && secret.has(variable.name) ? { ...variable, value: HIDDEN } : variable;
}

function updatedAt({ creationTimestamp, managedFields = [] }: ConfigSet["metadata"]): string {
  const moments = [creationTimestamp, ...managedFields.map(({ time = creationTimestamp }) => time)];
  return new Date(Math.max(...moments.map((moment) => Date.parse(moment)))).toISOString();
}
