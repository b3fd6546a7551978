/** Schemas of overrides. */
import { type Static, Type } from "typebox";
import { PLAIN_VALUE_PATTERN, Amount as ResourceAmount } from "../../crds/overrides.schema.ts";
import { closed, DOTTED_VARIABLE_PATTERN, map, SECRET_ID_PATTERN, SECRET_KEY_PATTERN } from "../../crds/schema.ts";
import { MOST_VARIABLES, VARIABLE_MAX_LENGTH } from "../../crds/variable-limits.ts";

export const SecretKeyRef = closed(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: SECRET_ID_PATTERN,
      "x-refusal": "must be the id of a secret in the secret manager: letters, digits, '_', '-' and '.', and no path",
    }),
    key: Type.String({
      pattern: SECRET_KEY_PATTERN,
      "x-refusal": "must be 'latest' or the number of a version",
      "x-number-as-text": true,
      description:
        "A version, or latest: the newest when the environment is made. A version may also be sent as a number.",
    }),
  },
  { description: "A secret of the secret manager that is shared with the environment." },
);

/** Text of a variable. */
export const VARIABLE_TEXT = {
  maxLength: VARIABLE_MAX_LENGTH,
  pattern: PLAIN_VALUE_PATTERN,
  "x-refusal": `must not contain NUL, and may have ${VARIABLE_MAX_LENGTH} characters at most`,
};
const VariableText = Type.String({ title: "VariableText", ...VARIABLE_TEXT });
const VariableReference = closed({ secretKeyRef: SecretKeyRef }, { title: "VariableReference" });

/** One schema for text and reference, so that violations are those of the chosen form. */
const EnvValue = Type.Unsafe<Static<typeof VariableText> | Static<typeof VariableReference>>({
  ...VariableText,
  ...VariableReference,
  type: [VariableText.type, VariableReference.type],
  title: "VariableValue",
  description: "Text, or where the secret manager has it.",
  "x-one-of": [VariableText, VariableReference],
});

/** Name of a variable. */
export const VARIABLE = {
  maxLength: 128,
  pattern: DOTTED_VARIABLE_PATTERN,
  "x-refusal": "must be the name of a variable: letters, digits, '_', '.' and '-', beginning with a letter or '_'",
};

const Env = map(EnvValue, {
  maxProperties: MOST_VARIABLES,
  propertyNames: { type: "string", ...VARIABLE },
  description:
    "By variable: its value as text, or where the secret manager has it. Text for one of the Repository's secrets is kept in the secret manager.",
});

export const Amount = Type.Unsafe<string>({
  ...ResourceAmount,
  "x-refusal": "must be a quantity of Kubernetes, such as 100m or 256Mi",
});
const Amounts = closed({ cpu: Type.Optional(Amount), memory: Type.Optional(Amount) });

/** Fields of a component that suit every chart. */
export const COMPONENT_FIELDS = {
  env: Type.Optional(Env),
  replicas: Type.Optional(Type.Integer({ minimum: 0, maximum: 20 })),
  resources: Type.Optional(closed({ requests: Type.Optional(Amounts), limits: Type.Optional(Amounts) })),
};

const Component = Type.Object(COMPONENT_FIELDS, {
  additionalProperties: true,
  maxProperties: 50,
  description: "Any other value of the chart only where the Repository lists its path as overridable.",
});
export type ComponentOverridesRequest = Static<typeof Component> & { readonly [value: string]: unknown };

export const ConfigOverrides = closed({
  helm_values: Type.Optional(
    closed({
      backend: Type.Optional(Type.Unsafe<ComponentOverridesRequest>(Component)),
      frontend: Type.Optional(Type.Unsafe<ComponentOverridesRequest>(Component)),
    }),
  ),
});
export type ConfigOverrides = Static<typeof ConfigOverrides>;
