import { isDeepStrictEqual } from "node:util";
import { ERRORS, isErrorCode } from "../errors.ts";
import type { HEADERS } from "../http/headers.ts";
import { type Contract, isWrapped, type Version } from "../route.ts";
import { Instant } from "../schemas/fields.ts";
import { exampleOf, problemExamples } from "./examples.ts";
import { type Components, component, type DocumentPart } from "./schemas.ts";

const LIMIT_HEADERS = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"] as const;
/** Header of ENV_NAME_EXISTS, where the name will be free again. */
const NAME_FREE_AGAIN = {
  "Retry-After": {
    description: "Seconds until the name is free, while its former environment is still being deleted.",
    required: false,
    schema: { type: "integer" },
    example: 10,
  },
} as const;

const headerRefs = (...names: (keyof typeof HEADERS)[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Replies of an operation, by status: its success with links, and all its errors. */
export function responses(contract: Contract, version: Version, parts: ResponseParts): DocumentPart {
  const { reply } = contract;
  const isUnavailable = (value: unknown) => contract.isUnavailable?.(value) ?? false;
  const values = ((reply as DocumentPart).examples as unknown[] | undefined) ?? [exampleOf(reply as DocumentPart)];
  const answer = (description: string, value: unknown, ...headers: (keyof typeof HEADERS)[]) => ({
    description,
    headers: headerRefs("X-Request-ID", ...limitHeaders(contract), ...headers),
    content: contentOf(contract, version, { ...parts, value }),
  });
  const success = answer(
    "Success",
    values.find((value) => !isUnavailable(value)),
  );
  const links = Object.keys(parts.links).length > 0 ? { links: parts.links } : {};
  const problems = problemStatuses(contract).map((status) => [status, problem(status, contract, parts.responses)]);
  const notReady = contract.isUnavailable && answer("Not ready", values.find(isUnavailable), "Retry-After");
  return {
    [contract.status]: { ...success, ...links },
    ...Object.fromEntries(problems),
    ...(notReady ? { [ERRORS.unavailable.status]: notReady } : {}),
  };
}

/** Context of an operation's replies. */
export interface ResponseParts {
  readonly components: Components;
  /** Errors of the document by name, collected on the way. */
  readonly responses: Components;
  readonly links: DocumentPart;
}

function contentOf(
  contract: Contract,
  version: Version,
  { components, value }: ResponseParts & { readonly value: unknown },
): DocumentPart {
  const { representation } = contract;
  const reply = component(contract.reply as DocumentPart, components);
  if (contract.isStream) {
    // OpenAPI 3.1 has no word for an event's content.
    const events = { schema: { type: "string" }, example: eventExample(value), "x-event-data": reply };
    return { "text/event-stream": events };
  }
  const json = isWrapped(contract, version)
    ? { schema: wrapped(reply), example: wrappedExample(value) }
    : { schema: reply, example: value };
  if (representation === undefined) return { "application/json": json };
  const text = { schema: { type: "string" }, example: representation.text(value) };
  return { "application/json": json, [representation.type]: text };
}

const eventExample = (value: unknown) => `id: 2026-06-01T12:03:00.000000000Z\ndata: ${JSON.stringify(value)}\n\n`;

function wrapped(reply: DocumentPart): DocumentPart {
  return {
    type: "object",
    required: ["status", "data", "timestamp"],
    additionalProperties: false,
    properties: { status: { type: "string", enum: ["success"] }, data: unmarked(reply), timestamp: Instant },
  };
}

function wrappedExample(value: unknown): DocumentPart {
  const { status, ...unmarked } = value as { readonly status?: unknown };
  const data = status === "success" ? unmarked : value;
  return { status: "success", data, timestamp: exampleOf({ ...Instant }) };
}

/** Only a top-level `status` whose one value is `success` is a marker. */
function unmarked(reply: DocumentPart): DocumentPart {
  const { status, ...properties } = (reply.properties ?? {}) as Record<string, DocumentPart>;
  const isMarker = Array.isArray(status?.enum) && status.enum.join() === "success";
  if (!isMarker) return reply;
  return { ...reply, required: (reply.required as string[]).filter((name) => name !== "status"), properties };
}

function problemStatuses({ access, rate, errors, body, params, query, headers }: Contract): number[] {
  const kinds: (keyof typeof ERRORS)[] = [
    ...errors,
    ...(body ? (["malformed", "too-large", "unsupported-media-type", "unavailable"] as const) : []),
    ...(params || query || headers ? (["malformed"] as const) : []),
    ...(access === "public" ? [] : (["unauthenticated", "unavailable"] as const)),
    ...(rate === "sender" ? (["unauthenticated", "unavailable"] as const) : []),
    ...(typeof access === "object" ? (["forbidden"] as const) : []),
    ...(rate === "none" ? [] : (["rate-limited"] as const)),
    "fault",
  ];
  return [...new Set(kinds.map((kind) => ERRORS[kind].status))].sort((one, other) => one - other);
}

function problem(status: number, contract: Contract, collected: Components): DocumentPart {
  const schema = { $ref: "#/components/schemas/Problem" };
  const examples = problemExamples(status, contract);
  const name = problemName(Object.keys(examples), hasOwnBudget(status, contract));
  const shown = {
    description: meaningOf(status, contract),
    headers: problemHeaders(status, contract),
    content: { "application/json": { schema, examples } },
  };
  if (!isDeepStrictEqual(collected.get(name) ?? shown, shown))
    throw new Error(`two different errors are called ${name}`);
  collected.set(name, shown);
  return { $ref: `#/components/responses/${name}` };
}

/** Name of an error response, such as `NotFound`, `EnvConfigInvalidOrMalformed`, `RateLimitedByOwnBudget`. */
function problemName(examples: readonly string[], isByOwnBudget: boolean): string {
  const words = examples.map((name) =>
    isErrorCode(name)
      ? name.toLowerCase().replaceAll(/(?:^|_)(\w)/g, (_all, first: string) => first.toUpperCase())
      : name,
  );
  return `${words.join("Or")}${isByOwnBudget ? "ByOwnBudget" : ""}`;
}

const hasOwnBudget = (status: number, { budget }: Contract) =>
  budget !== undefined && status === ERRORS["rate-limited"].status;

function meaningOf(status: number, contract: Contract): string {
  const row = Object.values(ERRORS).find((error) => "meaning" in error && error.status === status);
  const meaning = row !== undefined && "meaning" in row ? row.meaning : "Error";
  return hasOwnBudget(status, contract)
    ? `${meaning}. The operation's own budget or every caller's is spent: X-RateLimit-* tell which`
    : meaning;
}

function problemHeaders(status: number, contract: Contract): DocumentPart {
  const { ENV_NAME_EXISTS, unauthenticated, unavailable, "rate-limited": limited } = ERRORS;
  const mayNameBeFreed = contract.errors.includes("ENV_NAME_EXISTS") && status === ENV_NAME_EXISTS.status;
  return {
    // A fault or an unavailable dependency may precede the counting.
    ...headerRefs("X-Request-ID", ...(status < 500 ? limitHeaders(contract) : [])),
    ...(status === unauthenticated.status ? headerRefs("WWW-Authenticate") : {}),
    ...(status === limited.status || status === unavailable.status ? headerRefs("Retry-After") : {}),
    ...(mayNameBeFreed ? NAME_FREE_AGAIN : {}),
  };
}

const limitHeaders = ({ rate }: Contract) => (rate === "none" ? [] : LIMIT_HEADERS);
