import { type Static, type TSchema, Type } from "typebox";

/** A rule that the API server evaluates; see https://kubernetes.io/docs/reference/using-api/cel/. */
export interface CelRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: "FieldValueInvalid" | "FieldValueForbidden";
  readonly fieldPath?: string;
}

/** Attaches rules to a schema. */
export const rules = (...list: CelRule[]) => ({ "x-kubernetes-validations": list });

/** Keywords that only the API server knows, for ajv to ignore. */
export const KUBERNETES_KEYWORDS = [
  "x-kubernetes-validations",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-preserve-unknown-fields",
] as const;

/** A union of string literals, as structural schemas and OpenAPI express it. */
export function literals<const T extends readonly string[]>(values: T, options: object = {}) {
  return Type.Unsafe<T[number]>({ type: "string", enum: [...values], ...options });
}

/** An object with arbitrary keys; TypeBox's record has no structural form. */
export const map = <T extends TSchema>(values: T, options: object = {}) =>
  Type.Unsafe<Record<string, Static<T>>>({ type: "object", additionalProperties: values, ...options });

/** An object without additional fields. */
export const closed = <T extends Record<string, TSchema>>(properties: T, options: object = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options });

/** A bounded text with its text for `kubectl explain`. */
export const text = (maxLength: number, description: string, options: object = {}) =>
  Type.String({ ...options, maxLength, description });

/** A schema with its description at this place. */
export const described = <T extends TSchema>(schema: T, description: string) =>
  Type.Unsafe<Static<T>>({ ...schema, description });

/** A full commit SHA (SHA-1 or SHA-256), or empty: the branch's head at the creation. */
export const COMMIT_PATTERN = "^([0-9a-f]{40}([0-9a-f]{24})?)?$";
export const Commit = Type.String({ maxLength: 64, pattern: COMMIT_PATTERN });

/** A POSIX environment variable. */
export const VARIABLE_PATTERN = "^[A-Za-z_][A-Za-z0-9_]*$";
/** A variable as Kubernetes takes it, such as discovery.type; also as a key of a Secret. */
export const DOTTED_VARIABLE_PATTERN = "^[A-Za-z_][A-Za-z0-9_.-]*$";
export const SECRET_ID_PATTERN = "^[A-Za-z0-9_.-]+$";
export const SECRET_KEY_PATTERN = "^(latest|[1-9][0-9]{0,8})$";

export const timestamp = (description: string) => text(64, description, { format: "date-time" });
export const Groups = Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
  maxItems: 50,
  "x-kubernetes-list-type": "set",
  description: "Groups of the identity provider whose members have access.",
});

export const CONDITION_MESSAGE_MAX_LENGTH = 2048;

/** https://kubernetes.io/docs/reference/using-api/api-concepts/: the standard condition. */
export const Condition = Type.Object({
  type: text(64, "Subject of the condition, such as Ready."),
  status: literals(["True", "False", "Unknown"], { description: "True, False or Unknown." }),
  reason: text(128, "A stable word in CamelCase for why it has this status.", { minLength: 1 }),
  message: text(CONDITION_MESSAGE_MAX_LENGTH, "For people: what is wrong and what to do."),
  lastTransitionTime: timestamp("Last change of the status."),
  observedGeneration: Type.Optional(
    Type.Integer({ format: "int64", description: "The metadata.generation that the condition was computed from." }),
  ),
});
export type Condition = Static<typeof Condition>;

export const Conditions = Type.Array(Condition, {
  maxItems: 16,
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["type"],
  description: "The latest observations of the object's state, one of each type.",
});

export const TTL_DEFAULT_HOURS = 24;
export const TTL_MAX_HOURS = 168;
