import type { TSchema } from "typebox";
import { KUBERNETES_KEYWORDS } from "../crds/schema.ts";
import { PROBLEM_MEANINGS, statusOfCode, statusOfRefusal, UNAVAILABLE_STATUS } from "./problems.ts";
import {
  type Contract,
  isWrapped,
  type Route,
  TAGS,
  VERSIONS,
  type Version,
  versionedPath,
  versionsOf,
} from "./route.ts";
import { Instant, Problem } from "./schemas/fields.ts";

type Json = Readonly<Record<string, unknown>>;

/** Keywords that only our own checks read. */
const INTERNAL = new Set<string>([...KUBERNETES_KEYWORDS, "x-refusal", "title"]);
/** Keywords whose value is a schema. */
const NESTING = new Set<string>(["items", "additionalProperties", "propertyNames"]);

/** The OpenAPI 3.1 document of the routes, in both versions; https://spec.openapis.org/oas/v3.1.1.html. */
export function openApiDocument(routes: readonly Route[], version: string): object {
  const schemas = new Map<string, Json>();
  const paths: Record<string, Record<string, Json>> = {};
  for (const version of VERSIONS) {
    for (const { contract } of routes.filter((route) => versionsOf(route.contract).includes(version))) {
      const path = versionedPath(contract, version);
      paths[path] = { ...paths[path], [contract.method]: operation(contract, version, schemas) };
    }
  }
  component({ ...Problem }, schemas);
  return {
    openapi: "3.1.0",
    info: { title: "Ephemeral Environment Platform API", version, description: DESCRIPTION },
    tags: VERSIONS.flatMap((version) => TAGS.map((tag) => ({ name: tagOf(tag, version) }))),
    paths,
    components: {
      securitySchemes: { bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "ID token." } },
      headers: HEADERS,
      parameters: { RequestId: REQUEST_ID },
      schemas: Object.fromEntries([...schemas].sort(([one], [other]) => (one < other ? -1 : 1))),
    },
  };
}

const DESCRIPTION =
  "Temporary, isolated, complete copies of an application on Kubernetes. `/api/*` is version 1 (stable); `/api/v2/*` answers the same within `{status, data, timestamp}` (beta), and has what goes beyond version 1.";

const HEADERS = {
  "X-Request-ID": {
    description: "The id of the request, the caller's own when it is well formed.",
    schema: { type: "string" },
  },
  "X-RateLimit-Limit": { description: "Requests a minute.", schema: { type: "integer" } },
  "X-RateLimit-Remaining": { description: "What is left of them.", schema: { type: "integer" } },
  "X-RateLimit-Reset": { description: "When they are there again, in epoch seconds.", schema: { type: "integer" } },
  "Retry-After": { description: "Seconds until trying again makes sense.", schema: { type: "integer" } },
  "WWW-Authenticate": { description: "`Bearer`: what to authenticate with.", schema: { type: "string" } },
} as const;
const LIMIT_HEADERS = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"] as const;
/** On the refusal of a name, and only where it will be free again. */
const NAME_FREE_AGAIN = {
  "Retry-After": {
    description: "Seconds until the name is free, while what had it is still being deleted.",
    required: false,
    schema: { type: "integer" },
  },
} as const;

const REQUEST_ID = {
  name: "X-Request-ID",
  in: "header",
  required: false,
  description: "Tracing id: 1 to 64 letters, digits, '.', '_' and '-'; anything else is replaced.",
  schema: { type: "string" },
} as const;

const headerRefs = (...names: (keyof typeof HEADERS)[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const tagOf = (tag: string, version: Version) => (version === "v1" ? tag : `${tag} (v2)`);

function operation(contract: Contract, version: Version, schemas: Map<string, Json>): Json {
  return {
    operationId: version === "v1" ? contract.operationId : `${contract.operationId}V2`,
    summary: contract.summary,
    tags: [tagOf(contract.tag, version)],
    security: contract.access === "public" ? [] : [{ bearer: [] }],
    parameters: [
      { $ref: "#/components/parameters/RequestId" },
      ...parameters(contract.params, "path", schemas),
      ...parameters(contract.query, "query", schemas),
    ],
    ...(contract.body ? { requestBody: requestBody(contract, schemas) } : {}),
    responses: responses(contract, version, schemas),
  };
}

function parameters(schema: TSchema | undefined, place: "path" | "query", schemas: Map<string, Json>): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as { properties?: Json; required?: string[] };
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = component(property as Json, schemas);
    return {
      name,
      in: place,
      required: place === "path" || required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: rest,
    };
  });
}

function requestBody(contract: Contract, schemas: Map<string, Json>): Json {
  const content = { schema: component(contract.body as Json, schemas) };
  const types = ["application/json", ...(contract.forms ? ["application/x-www-form-urlencoded"] : [])];
  return { required: true, content: Object.fromEntries(types.map((type) => [type, content])) };
}

function responses(contract: Contract, version: Version, schemas: Map<string, Json>): Json {
  const reply = component(contract.reply as Json, schemas);
  const schema = isWrapped(contract, version) ? wrapped(reply) : reply;
  const { alternative } = contract;
  const answer = (description: string) => ({
    description,
    headers: headerRefs("X-Request-ID", ...limitHeaders(contract)),
    content: {
      "application/json": { schema },
      ...(alternative ? { [alternative.type]: { schema: { type: "string" } } } : {}),
    },
  });
  const unavailable = contract.isUnavailable ? { [UNAVAILABLE_STATUS]: answer("Not ready") } : {};
  const refusals = problemStatuses(contract).map((status) => [status, problem(status, contract)]);
  return { [contract.status ?? 200]: answer("Success"), ...Object.fromEntries(refusals), ...unavailable };
}

/** The envelope around what v1 answers, less its success marker. */
function wrapped(reply: Json): Json {
  return {
    type: "object",
    required: ["status", "data", "timestamp"],
    additionalProperties: false,
    properties: { status: { type: "string", enum: ["success"] }, data: unmarked(reply), timestamp: Instant },
  };
}

/** Only a top-level `status` whose one value is `success` is a marker; an environment's own status stays. */
function unmarked(reply: Json): Json {
  const { status, ...properties } = (reply.properties ?? {}) as Record<string, Json>;
  const isMarker = Array.isArray(status?.enum) && status.enum.join() === "success";
  if (!isMarker) return reply;
  return { ...reply, required: (reply.required as string[]).filter((name) => name !== "status"), properties };
}

function problemStatuses({ access, rate, refusals, refuses = [], body, params, query }: Contract): number[] {
  const codes = refusals.map(statusOfCode);
  const change = typeof access === "object" && /:(update|delete)$/.test(access.permission) ? [409] : [];
  return [
    ...new Set([
      ...codes,
      ...refuses.map(statusOfRefusal),
      ...change,
      ...(body ? [400, 413, 415] : []),
      ...(params || query ? [400] : []),
      ...accessStatuses(access),
      ...(rate === "none" ? [] : [429]),
      ...(access === "public" ? [] : [UNAVAILABLE_STATUS]),
      500,
    ]),
  ].sort((one, other) => one - other);
}

function accessStatuses(access: Contract["access"]): number[] {
  if (access === "public") return [];
  return access === "authenticated" ? [401] : [401, 403];
}

function problem(status: number, contract: Contract): Json {
  return {
    description: PROBLEM_MEANINGS[status] ?? "Error",
    headers: problemHeaders(status, contract),
    content: { "application/json": { schema: { $ref: "#/components/schemas/Problem" } } },
  };
}

function problemHeaders(status: number, contract: Contract): Json {
  const mayNameBeFreed = contract.refusals.includes("ENV_NAME_EXISTS") && status === statusOfCode("ENV_NAME_EXISTS");
  return {
    // A fault, or a missing dependency, may come before anything is counted.
    ...headerRefs("X-Request-ID", ...(status < 500 ? limitHeaders(contract) : [])),
    ...headerRefs(...(status === 401 ? (["WWW-Authenticate"] as const) : [])),
    ...headerRefs(...(status === 429 || status === UNAVAILABLE_STATUS ? (["Retry-After"] as const) : [])),
    ...(mayNameBeFreed ? NAME_FREE_AGAIN : {}),
  };
}

const limitHeaders = ({ rate }: Contract) => (rate === "none" ? [] : LIMIT_HEADERS);

/** A schema as the document shows it: titled ones move to the components, keywords of our own checks stay out. */
function component(schema: Json, schemas: Map<string, Json>): Json {
  const shown = shownKeywords(schema, schemas);
  if (typeof schema.title !== "string") return shown;
  schemas.set(schema.title, shown);
  return { $ref: `#/components/schemas/${schema.title}` };
}

function shownKeywords(schema: Json, schemas: Map<string, Json>): Json {
  const nested = (value: unknown) => component(value as Json, schemas);
  const shown = Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
    if (INTERNAL.has(keyword)) return [];
    // What we take is wider; this is the part that every generator of clients knows.
    if (keyword === "format" && value === "instant") return [[keyword, "date-time"]];
    if (NESTING.has(keyword) && typeof value === "object") return [[keyword, nested(value)]];
    if (keyword !== "properties") return [[keyword, value]];
    return [[keyword, Object.fromEntries(Object.entries(value as Json).map(([name, child]) => [name, nested(child)]))]];
  });
  return Object.fromEntries(shown);
}
