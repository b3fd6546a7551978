/** The variables and chart values that users may set for an environment. */
import { type Static, Type } from "typebox";
import { QUANTITY_PATTERN } from "../quantity.ts";
import { rules, SECRET_ID_PATTERN, SECRET_KEY_PATTERN, VARIABLE_PATTERN } from "../schema.ts";

/** A name that is valid for Kubernetes, shells and all languages. */
export const Variable = Type.String({ minLength: 1, maxLength: 128, pattern: VARIABLE_PATTERN });

/** An environment variable can have any character but NUL. */
export const PLAIN_VALUE_PATTERN = "^[^\\x00]*$";

/** A reference to a value in the secret manager. */
export const SecretRef = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 255, pattern: SECRET_ID_PATTERN }),
    key: Type.String({
      maxLength: 10,
      pattern: SECRET_KEY_PATTERN,
      description: "A version, or latest: the newest when it is resolved.",
    }),
  },
  { description: "A secret of the secret manager that this environment owns or that the settings share." },
);
export type SecretRef = Static<typeof SecretRef>;

const EnvironmentVariable = Type.Object(
  {
    name: Variable,
    value: Type.Optional(Type.String({ maxLength: 4096, pattern: PLAIN_VALUE_PATTERN })),
    secretRef: Type.Optional(SecretRef),
  },
  rules({
    rule: "has(self.value) != has(self.secretRef)",
    message: "a variable has either a value or a secretRef",
  }),
);
export type EnvironmentVariable = Static<typeof EnvironmentVariable>;

/** Variables with unique names. */
export const EnvironmentVariables = Type.Array(EnvironmentVariable, {
  maxItems: 100,
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["name"],
});

export const Amount = Type.String({ maxLength: 32, pattern: QUANTITY_PATTERN });
const Amounts = Type.Object({ cpu: Type.Optional(Amount), memory: Type.Optional(Amount) });

/** The overrides that every chart supports. */
export const ComponentOverrides = Type.Object({
  env: Type.Optional(EnvironmentVariables),
  replicas: Type.Optional(Type.Integer({ minimum: 0, maximum: 20 })),
  resources: Type.Optional(Type.Object({ requests: Type.Optional(Amounts), limits: Type.Optional(Amounts) })),
});
export type ComponentOverrides = Static<typeof ComponentOverrides>;

/** A path in the chart values, beginning with the component. */
export const ValuePath = Type.String({ maxLength: 255, pattern: "^(backend|frontend)(\\.[A-Za-z0-9_-]{1,63}){1,8}$" });

export const ValueOverride = Type.Object({
  path: Type.Unsafe<string>({
    ...ValuePath,
    description: "One of the paths that a Repository of the environment lists as overridable.",
  }),
  value: Type.String({ maxLength: 4096, description: "A scalar, written as JSON." }),
});
export type ValueOverride = Static<typeof ValueOverride>;
