import { type Static, Type } from "typebox";
import {
  Amount,
  ComponentOverrides,
  EnvironmentVariables,
  nameRootRules,
  SecretRef,
  Variable,
} from "./environment/ephemeral-environment.schema.ts";
import { TTL_MAX_HOURS } from "./environment/ttl.ts";
import { Groups } from "./schema.ts";

const CheckedValues = Type.Object(ComponentOverrides.properties, {
  maxProperties: 100,
  "x-kubernetes-preserve-unknown-fields": true,
  description: "Values of the chart below this component. What the platform itself sets there always wins.",
});
/** The chart's values below one component; `env`, `replicas` and `resources` are checked, the rest is the chart's matter. */
export type ComponentValues = Static<typeof CheckedValues> & { readonly [value: string]: unknown };
/** Free-form: these are a maintainer's, and only the chart knows its own. */
const ComponentValues = Type.Unsafe<ComponentValues>(CheckedValues);

const SharedApiKey = Type.Object({ name: Variable, secretRef: SecretRef });

const Quota = Type.Object(
  {
    cpu: Type.Optional(Amount),
    memory: Type.Optional(Amount),
    storage: Type.Optional(Amount),
    pods: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
  },
  { description: "What an environment may use together; what is left out is as the settings say." },
);
export type Quota = Static<typeof Quota>;

export const ConfigSetSpec = Type.Object({
  description: Type.Optional(Type.String({ maxLength: 500 })),
  production: Type.Optional(Type.Boolean({ description: "True: no environment may use it." })),
  helmValues: Type.Optional(
    Type.Object({ backend: Type.Optional(ComponentValues), frontend: Type.Optional(ComponentValues) }),
  ),
  env: Type.Optional(
    Type.Unsafe<Static<typeof EnvironmentVariables>>({
      ...EnvironmentVariables,
      description: "Variables of every component; those of helmValues and of the environment's overrides win.",
    }),
  ),
  sharedApiKeys: Type.Optional(
    Type.Array(SharedApiKey, {
      maxItems: 50,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      description: "Variables for environments that ask for shared API keys; everything else of that name wins.",
    }),
  ),
  database: Type.Optional(
    Type.Object({
      enabled: Type.Optional(
        Type.Boolean({ description: "Whether environments get one that don't say so themselves." }),
      ),
      engine: Type.Optional(Type.String({ enum: ["postgresql"], default: "postgresql" })),
      version: Type.Optional(Type.String({ maxLength: 32, pattern: "^[0-9]+(\\.[0-9]+)*$" })),
      sizeGi: Type.Optional(Type.Integer({ minimum: 1, maximum: 1024 })),
    }),
  ),
  quota: Type.Optional(Quota),
  ttlDefaultHours: Type.Optional(
    Type.Integer({ minimum: 1, maximum: TTL_MAX_HOURS, description: "For environments that don't say their own." }),
  ),
  access: Type.Optional(
    Type.Object({ groups: Groups }, { description: "Who may use it; everybody when left out or empty." }),
  ),
});
export type ConfigSetSpec = Static<typeof ConfigSetSpec>;

export const configSetRootRules = nameRootRules("configSet");
