import { type Static, Type } from "typebox";
import { ChartValues } from "./chart-values/chart-values.schema.ts";
import { DatabaseMask } from "./database-copy.schema.ts";
import { Amount, ComponentOverrides, DottedVariable, EnvironmentVariables, SecretRef } from "./overrides.schema.ts";
import { described, Groups, TTL_MAX_HOURS, text } from "./schema.ts";
import { Seed } from "./seed.schema.ts";
import { SleepWish } from "./sleep.schema.ts";

const CheckedValues = Type.Object(ComponentOverrides.properties, {
  maxProperties: 100,
  "x-kubernetes-preserve-unknown-fields": true,
  description: "Chart values of this component. The values that the platform sets always win.",
});
/** Chart values of one component; only `env`, `replicas` and `resources` are checked. */
export type ComponentValues = Static<typeof CheckedValues> & { readonly [value: string]: unknown };
/** Free-form, because only the chart knows its values. */
const ComponentValues = Type.Unsafe<ComponentValues>(CheckedValues);

const SharedApiKey = Type.Object({
  name: described(DottedVariable, "Name of the environment variable."),
  secretRef: SecretRef,
});

const Quota = Type.Object(
  {
    cpu: Type.Optional(described(Amount, "CPU of all pods together, as a Kubernetes quantity such as 2.")),
    memory: Type.Optional(described(Amount, "Memory of all pods together, as a Kubernetes quantity such as 4Gi.")),
    storage: Type.Optional(described(Amount, "Size of all volumes together, as a Kubernetes quantity such as 10Gi.")),
    pods: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000, description: "Number of pods." })),
  },
  { description: "The quota of an environment; the settings apply to what is left out." },
);
export type Quota = Static<typeof Quota>;

export const ConfigSetSpec = Type.Object(
  {
    description: Type.Optional(text(500, "Purpose of the config set, for people.")),
    production: Type.Optional(Type.Boolean({ description: "True: no environment may use it." })),
    helmValues: Type.Optional(
      Type.Object(
        { backend: Type.Optional(ComponentValues), frontend: Type.Optional(ComponentValues) },
        { description: "Chart values by component; overrides of an environment win over them." },
      ),
    ),
    values: Type.Optional(
      ChartValues(
        "Values of the chart over those that the chart's own `values` give, as YAML with the same references: for charts that many Repositories share. Where there are any, the chart does not get the platform's layout.",
      ),
    ),
    env: Type.Optional(
      described(
        EnvironmentVariables,
        "Variables of every component; helmValues and the environment's overrides win over them.",
      ),
    ),
    sharedApiKeys: Type.Optional(
      Type.Array(SharedApiKey, {
        maxItems: 50,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        description: "Variables for environments that request shared API keys; any other variable of the name wins.",
      }),
    ),
    database: Type.Optional(
      Type.Object(
        {
          enabled: Type.Optional(Type.Boolean({ description: "The default for environments that don't set it." })),
          engine: Type.Optional(
            Type.String({ enum: ["postgresql"], default: "postgresql", description: "The database program." }),
          ),
          version: Type.Optional(
            text(32, "The version of the engine; that of the settings when left out.", {
              pattern: "^[0-9]+(\\.[0-9]+)*$",
            }),
          ),
          sizeGi: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: 1024,
              description: "Size of the volume in GiB; that of the settings when left out.",
            }),
          ),
          seed: Type.Optional(
            described(Seed, "The data that new databases begin with, for environments that don't set it."),
          ),
          mask: Type.Optional(DatabaseMask),
        },
        { description: "The database of environments." },
      ),
    ),
    quota: Type.Optional(Quota),
    ttlDefaultHours: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: TTL_MAX_HOURS,
        description: "The default for environments that don't set it.",
      }),
    ),
    sleep: Type.Optional(SleepWish),
    access: Type.Optional(
      Type.Object({ groups: Groups }, { description: "Groups that may use it; everyone when left out or empty." }),
    ),
  },
  { description: "The defaults of environments; maintainers write them, and each change is a new version." },
);
export type ConfigSetSpec = Static<typeof ConfigSetSpec>;
