/** Variables and chart values by users for an environment. */
import { type Static, Type } from "typebox";
import { QUANTITY_PATTERN } from "./quantity.ts";
import {
  DOTTED_VARIABLE_PATTERN,
  described,
  rules,
  SECRET_ID_PATTERN,
  SECRET_KEY_PATTERN,
  text,
  VARIABLE_PATTERN,
} from "./schema.ts";
import { COMPONENT_MAX_BYTES, MOST_REFERENCES, MOST_VARIABLES, VARIABLE_MAX_LENGTH } from "./variable-limits.ts";

/** A name that is valid for Kubernetes, shells, all languages, and within ids of every secret manager. */
export const Variable = Type.String({ minLength: 1, maxLength: 128, pattern: VARIABLE_PATTERN });
/** A name that is valid for Kubernetes, also with dots and dashes. */
export const DottedVariable = Type.String({ minLength: 1, maxLength: 128, pattern: DOTTED_VARIABLE_PATTERN });

/** An environment variable can have any character but NUL. */
export const PLAIN_VALUE_PATTERN = "^[^\\x00]*$";

/** A reference to a value in the secret manager. */
export const SecretRef = Type.Object(
  {
    name: text(255, "The id of the secret in the secret manager.", { minLength: 1, pattern: SECRET_ID_PATTERN }),
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
    name: described(DottedVariable, "Name of the environment variable."),
    value: Type.Optional(
      text(VARIABLE_MAX_LENGTH, "Value in plain text; either this or secretRef.", { pattern: PLAIN_VALUE_PATTERN }),
    ),
    secretRef: Type.Optional(SecretRef),
  },
  rules({
    rule: "has(self.value) != has(self.secretRef)",
    message: "a variable has either a value or a secretRef",
  }),
);
export type EnvironmentVariable = Static<typeof EnvironmentVariable>;

/** Variable with a container's port. Service and probes would not use another port. */
export const PORT_VARIABLE = "PORT";

/** Variables with unique names. */
export const EnvironmentVariables = Type.Array(EnvironmentVariable, {
  maxItems: MOST_VARIABLES,
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["name"],
  description: "Environment variables of the component's container.",
  ...rules(
    {
      rule: `self.all(one, one.name != '${PORT_VARIABLE}')`,
      message: `${PORT_VARIABLE} is what the platform sets: change spec.port of the Repository`,
    },
    {
      rule: `self.filter(one, has(one.secretRef)).size() <= ${MOST_REFERENCES}`,
      message: `may refer to ${MOST_REFERENCES} secrets at most`,
    },
    {
      // Characters: counting bytes costs more than the API server permits. The operator counts bytes, over all lists.
      rule: `self.map(one, size(one.name) + (has(one.value) ? size(one.value) : 0)).sum() <= ${COMPONENT_MAX_BYTES}`,
      message: `the variables may have ${COMPONENT_MAX_BYTES} characters at most, names and values together`,
    },
  ),
});

export const Amount = Type.String({ maxLength: 32, pattern: QUANTITY_PATTERN });
const amounts = (description: string) =>
  Type.Optional(
    Type.Object(
      {
        cpu: Type.Optional(described(Amount, "CPU as a Kubernetes quantity, such as 250m.")),
        memory: Type.Optional(described(Amount, "Memory as a Kubernetes quantity, such as 256Mi.")),
      },
      { description },
    ),
  );

/** Overrides that every chart supports. */
export const ComponentOverrides = Type.Object({
  env: Type.Optional(EnvironmentVariables),
  replicas: Type.Optional(Type.Integer({ minimum: 0, maximum: 20, description: "Number of pods of the component." })),
  resources: Type.Optional(
    Type.Object(
      { requests: amounts("Guaranteed resources of a pod."), limits: amounts("Limit of a pod's resources.") },
      { description: "CPU and memory of each pod." },
    ),
  ),
});
export type ComponentOverrides = Static<typeof ComponentOverrides>;

/** A path in the chart values; in the platform's layout it begins with the component. */
export const ValuePath = Type.String({ maxLength: 255, pattern: "^[A-Za-z0-9_-]{1,63}(\\.[A-Za-z0-9_-]{1,63}){0,8}$" });

export const ValueOverride = Type.Object({
  path: described(ValuePath, "One of the paths that a Repository of the environment lists as overridable."),
  value: text(4096, "A scalar, written as JSON."),
});
export type ValueOverride = Static<typeof ValueOverride>;
