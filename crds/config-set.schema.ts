import { type Static, Type } from "typebox";
import {
  Amount,
  ComponentOverrides,
  EnvironmentVariables,
  SecretRef,
  Variable,
} from "./environment/overrides.schema.ts";
import { TTL_MAX_HOURS } from "./environment/ttl.ts";
import { Groups } from "./schema.ts";

const CheckedValues = Type.Object(ComponentOverrides.properties, {
  maxProperties: 100,
  "x-kubernetes-preserve-unknown-fields": true,
  description: "Chart values of this component. The values that the platform sets always win.",
});
/** Chart values of one component; `env`, `replicas` and `resources` are checked, the rest is the chart's. */
export type ComponentValues = Static<typeof CheckedValues> & { readonly [value: string]: unknown };
/** Free-form: maintainers set them, and only the chart knows its values. */
const ComponentValues = Type.Unsafe<ComponentValues>(CheckedValues);

const SharedApiKey = Type.Object({ name: Variable, secretRef: SecretRef });

const Quota = Type.Object(
  {
    cpu: Type.Optional(Amount),
    memory: Type.Optional(Amount),
    storage: Type.Optional(Amount),
    pods: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
  },
  { description: "The quota of an environment; the settings apply to what is left out." },
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
      description: "Variables of every component; helmValues and the environment's overrides win over them.",
    }),
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
    Type.Object({
      enabled: Type.Optional(Type.Boolean({ description: "The default for environments that don't set it." })),
      engine: Type.Optional(Type.String({ enum: ["postgresql"], default: "postgresql" })),
      version: Type.Optional(Type.String({ maxLength: 32, pattern: "^[0-9]+(\\.[0-9]+)*$" })),
      sizeGi: Type.Optional(Type.Integer({ minimum: 1, maximum: 1024 })),
    }),
  ),
  quota: Type.Optional(Quota),
  ttlDefaultHours: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: TTL_MAX_HOURS,
      description: "The default for environments that don't set it.",
    }),
  ),
  access: Type.Optional(
    Type.Object({ groups: Groups }, { description: "Who may use it; everybody when left out or empty." }),
  ),
});
export type ConfigSetSpec = Static<typeof ConfigSetSpec>;
