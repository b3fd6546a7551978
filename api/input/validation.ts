import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import addFormatsModule from "ajv-formats";
import type { Static, TSchema } from "typebox";
import type { ErrorCode, Violation } from "../../crds/errors.ts";
import { nameProblem } from "../../crds/names.ts";
import { branchProblem } from "../../crds/repository/branches.ts";
import { KUBERNETES_KEYWORDS } from "../../crds/schema.ts";
import { isInstant } from "./instant.ts";
import { RAW_KEYWORD } from "./raw-body.ts";

/** A violation, with the facts that decide the error. */
export interface SchemaFinding extends Violation {
  /** Code for this bound in the schema (`x-error-code` beside `maximum`). */
  readonly code: ErrorCode | undefined;
  /** The maximum, where the value exceeds it. */
  readonly maximum: number | undefined;
}

/** Result of a check: typed value, or violations. */
export type Checked<T> =
  | { readonly valid: true; readonly value: T }
  | { readonly valid: false; readonly findings: readonly SchemaFinding[] };

/** An answer must not grow far beyond the request. */
export const MAX_FINDINGS = 100;

/** Formats: each returns a text's problem, if it has one. */
const FORMATS: Readonly<Record<string, (text: string) => string | undefined>> = {
  "environment-name": (text) => nameProblem(text),
  "config-set-name": (text) => nameProblem(text, "configSet"),
  // The schema decides whether it may be empty.
  "git-branch": (text) => (text === "" ? undefined : branchProblem(text)),
  instant: (text) => (isInstant(text) ? undefined : "must be an ISO 8601 timestamp"),
};

// The module is CommonJS: under nodenext its callable default export hides one level down in the types.
const addFormats = addFormatsModule as unknown as (ajv: Ajv2020, formats: string[]) => void;

const ajv = new Ajv2020({ strict: true, allErrors: true, verbose: true, allowUnionTypes: true });
ajv.addVocabulary([
  ...KUBERNETES_KEYWORDS,
  "x-error-code",
  "x-refusal",
  "x-number-as-text",
  "x-one-of",
  "example",
  RAW_KEYWORD,
]);
addFormats(ajv, ["date-time", "uri"]);
for (const [name, problem] of Object.entries(FORMATS)) {
  ajv.addFormat(name, { type: "string", validate: (text: string) => problem(text) === undefined });
}

/**
 * Checks values by a schema, compiled at the first value: all schemas together take a tenth of a second of the
 * process's start. Never changes the value, reports every wrong field once and never repeats a sent value.
 */
export function checker<S extends TSchema>(schema: S): (value: unknown) => Checked<Static<S>> {
  let compiled: ValidateFunction<Static<S>> | undefined;
  return (value) => {
    compiled ??= ajv.compile<Static<S>>(schema);
    const validate = compiled;
    if (validate(value)) return { valid: true, value };
    const byField = new Map<string, SchemaFinding>();
    for (const error of validate.errors ?? []) {
      const finding = findingOf(error);
      if (!byField.has(finding.field)) byField.set(finding.field, finding);
    }
    return { valid: false, findings: [...byField.values()].slice(0, MAX_FINDINGS) };
  };
}

function findingOf(error: ErrorObject): SchemaFinding {
  const schema = (error.parentSchema ?? {}) as Record<string, unknown>;
  const exceeded = error.keyword === "maximum";
  return {
    field: fieldOf(error),
    message: messageOf(error, schema),
    code: exceeded ? (schema["x-error-code"] as ErrorCode | undefined) : undefined,
    maximum: exceeded ? Number(schema.maximum) : undefined,
  };
}

/** Path of the wrong value, with dots; of a field that is missing, unknown or badly named, its own. */
function fieldOf({ instancePath, params, propertyName }: ErrorObject): string {
  const named: unknown = params.missingProperty ?? params.additionalProperty ?? propertyName ?? params.propertyName;
  const path = instancePath.split("/").slice(1).map(unescapePointer);
  if (typeof named === "string") path.push(named.slice(0, 100));
  return path.join(".");
}

const unescapePointer = (part: string) => part.replaceAll("~1", "/").replaceAll("~0", "~").slice(0, 100);

function messageOf({ keyword, params, message, data }: ErrorObject, schema: Record<string, unknown>): string {
  if (keyword === "required") return "is required";
  if (keyword === "additionalProperties") return "is not a known field";
  if (keyword === "type") return `must be ${[params.type].flat().map(String).map(article).join(" or ")}`;
  if (typeof schema["x-refusal"] === "string") return schema["x-refusal"];
  if (keyword === "enum") return `must be one of ${(params.allowedValues as unknown[]).join(", ")}`;
  const format = FORMATS[String(schema.format)];
  const problem = typeof data === "string" ? format?.(data) : undefined;
  return problem ?? message ?? "is not valid";
}

const article = (type: string) => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`);
