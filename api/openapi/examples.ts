import type { ErrorCode } from "../../crds/errors.ts";
import { statusOfCode } from "../errors.ts";
import type { Contract } from "../route.ts";
import type { Json } from "./schemas.ts";

const MOMENT = "2026-06-01T12:00:00.000Z";

/** Stands where a text has neither an example nor a form; a test finds it. */
export const NO_EXAMPLE = "(no example)";

/** A value of the schema: its own example where it has one, else one made of its parts' examples. */
export function exampleOf(schema: Json): unknown {
  const { examples, enum: values } = schema as { readonly examples?: unknown[]; readonly enum?: unknown[] };
  if (examples !== undefined) return examples[0];
  if ("default" in schema) return schema.default;
  if (values !== undefined) return values[0];
  const [type = "object"] = [schema.type].flat().map(String);
  return (BY_TYPE[type] ?? (() => null))(schema);
}

const BY_TYPE: Readonly<Record<string, (schema: Json) => unknown>> = {
  object: ({ properties = {} }) =>
    Object.fromEntries(Object.entries(properties as Json).map(([name, part]) => [name, exampleOf(part as Json)])),
  array: ({ items }) => [exampleOf(items as Json)],
  boolean: () => false,
  integer: ({ minimum = 1 }) => minimum,
  number: ({ minimum = 1 }) => minimum,
  string: ({ format }) => (format === "date-time" || format === "instant" ? MOMENT : NO_EXAMPLE),
};

interface ProblemExample {
  readonly detail: string;
  readonly status: number;
  readonly code?: ErrorCode;
}

const CODED: Readonly<Record<ErrorCode, string>> = {
  ENV_NAME_EXISTS: "Environment name already exists",
  ENV_NOT_FOUND: "Environment not found",
  ENV_CREATION_FAILED: "Failed to create environment",
  ENV_TTL_EXCEEDED: "TTL exceeds the maximum of 168 hours",
  ENV_REPO_NOT_FOUND: "backend_repo: no backend repository 'shop-api' is registered",
  ENV_CONFIG_INVALID: "environment_name: is required; ttl: must be an integer",
};

const PLAIN: Readonly<Record<string, ProblemExample>> = {
  Malformed: { status: 400, detail: "The body is not valid JSON" },
  Unauthenticated: { status: 401, detail: "Authentication required" },
  Forbidden: { status: 403, detail: "This needs the permission environments:create" },
  NotFound: { status: 404, detail: "Not found" },
  Conflict: { status: 409, detail: "The environment is being deleted" },
  TooLarge: { status: 413, detail: "The body may have 262144 bytes at most" },
  UnsupportedMediaType: { status: 415, detail: "Send the body as application/json" },
  RateLimited: { status: 429, detail: "Too many requests" },
  Fault: { status: 500, detail: "Internal server error" },
  Unavailable: { status: 503, detail: "The Kubernetes API can't be reached" },
};

/** Every error that replies refer to as an example, by name. */
export const PROBLEM_EXAMPLES: Json = Object.fromEntries([
  ...Object.entries(PLAIN).map(([name, example]) => [name, problemExample(example)]),
  ...Object.entries(CODED).map(([code, detail]) => {
    const known = code as ErrorCode;
    return [code, problemExample({ detail, status: statusOfCode(known), code: known })];
  }),
]);

function problemExample({ detail, status, code }: ProblemExample): Json {
  const body = { detail, status_code: status, ...(code === undefined ? {} : { error_code: code }), timestamp: MOMENT };
  return { summary: detail, value: body };
}

/** The examples of an operation's errors with this status: its codes, and what has none. */
export function problemExamples(status: number, { refusals, refuses = [] }: Contract): Json {
  const codes = refusals.filter((code) => statusOfCode(code) === status);
  const plain = Object.keys(PLAIN).filter((name) => PLAIN[name]?.status === status);
  // A 404 without a code is something else than one with a code; a route that has both says so.
  const isCoded = status === 404 && codes.length > 0 && !refuses.includes("not-found");
  const names = isCoded ? codes : [...codes, ...plain];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/examples/${name}` }]));
}
