import type { TSchema } from "typebox";
import { HEADERS } from "../http/headers.ts";
import { isRaw } from "../input/raw-body.ts";
import {
  type Access,
  type Contract,
  isWrapped,
  type Route,
  TAGS,
  type Tag,
  VERSIONS,
  type Version,
  versionedPath,
  versionsOf,
} from "../route.ts";
import { Problem } from "../schemas/fields.ts";
import { exampleOf, PROBLEM_EXAMPLES } from "./examples.ts";
import { responses } from "./responses.ts";
import { type Components, component, type Json } from "./schemas.ts";

/** OpenAPI 3.1 document of the routes, in both versions; https://spec.openapis.org/oas/v3.1.1.html. */
export function openApiDocument(routes: readonly Route[]): object {
  const schemas: Components = new Map();
  const errors: Components = new Map();
  const paths: Record<string, Record<string, Json>> = {};
  for (const version of VERSIONS) {
    const contracts = routes.map(({ contract }) => contract).filter((one) => versionsOf(one).includes(version));
    for (const contract of contracts) {
      const path = versionedPath(contract, version);
      paths[path] = { ...paths[path], [contract.method]: operation(contract, { version, contracts, schemas, errors }) };
    }
  }
  component({ ...Problem }, schemas);
  return {
    openapi: "3.1.0",
    info: {
      title: "Ephemeral Environment Platform API",
      version: CONTRACT_VERSION,
      description: DESCRIPTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    // Relative, because an ingress may serve the platform below a path prefix; paths are appended as they are.
    servers: [{ url: ".", description: "The address of this document." }],
    tags: VERSIONS.flatMap((version) =>
      TAGS.map((tag) => ({ name: tagOf(tag, version), description: ABOUT_TAGS[tag] })),
    ),
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      headers: HEADERS,
      parameters: { RequestId: REQUEST_ID },
      examples: PROBLEM_EXAMPLES,
      responses: inOrder(errors),
      schemas: inOrder(schemas),
    },
  };
}

/** Components by name, independent of the order of the routes. */
const inOrder = (components: Components) =>
  Object.fromEntries([...components].sort(([one], [other]) => (one < other ? -1 : 1)));

/** Version of the contract; the platform's release is in the health replies. */
const CONTRACT_VERSION = "1.0.0";

const DESCRIPTION =
  "Creates, manages and monitors ephemeral environments: temporary isolated instances of one or more applications on Kubernetes, for testing, development or review. `/api/*` is version 1 (stable); `/api/v2/*` answers the same within `{status, data, timestamp}` (beta), and has what goes beyond version 1. A body is JSON where nothing else is said; `null` for an optional field is as good as leaving it out. Booleans of forms and queries may be written true, 1, on or yes, and false, 0, off or no, in either case. A slash at the end of a path changes nothing. Errors are `{detail, status_code, error_code?, timestamp}` in both versions, also where a request can't be read: 400, 408 (it came too slowly), 413 or 431 (its head is too large), each with `X-Request-ID`. Every path but `/api/health` and `/api/ready` is limited to so many requests a minute, also paths that don't exist: 100 for a known caller, 500 for a person with all of their API tokens, and 10 for an address without a credential, where the installation sets nothing else; `X-RateLimit-*` tell what is left.";

const ABOUT_TAGS: Readonly<Record<Tag, string>> = {
  environments: "Temporary isolated instances of one or more applications, each with a name, a namespace and a TTL.",
  "config-sets": "Named sets of values, variables, database and quota settings; environments refer to them by id.",
  repositories: "The registered backend and frontend repositories; environments refer to them by id.",
  tokens: "API tokens for CI/CD and automation.",
  account: "Authentication helpers.",
  webhooks: "Events of repository and pipeline hosts, and what became of them.",
  helm: "Values for the charts of applications.",
  observability: "State of the platform: figures of all environments together, and service levels.",
  insights: "Statistics of environments: numbers, durations, creators, and possible savings.",
  demos: "A dashboard and an environment to try the platform with.",
  health: "Health, readiness and status; without authentication.",
};

const SECURITY_SCHEMES = {
  idToken: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "ID token of the identity provider, for people: `Authorization: Bearer <ID_TOKEN>`.",
  },
  apiToken: {
    type: "http",
    scheme: "bearer",
    description: "API token, long-lived, for CI/CD and automation: `Authorization: Bearer svc_<API_TOKEN>`.",
  },
} as const;

const REQUEST_ID = {
  name: "X-Request-ID",
  in: "header",
  required: false,
  description: "Tracing id: 1 to 64 letters, digits, '.', '_' and '-'; anything else is replaced.",
  schema: { type: "string", examples: [HEADERS["X-Request-ID"].example] },
} as const;

interface Parts {
  readonly version: Version;
  readonly contracts: readonly Contract[];
  readonly schemas: Components;
  readonly errors: Components;
}

const tagOf = (tag: string, version: Version) => (version === "v1" ? tag : `${tag} (v2)`);
const operationIdOf = ({ operationId }: Contract, version: Version) =>
  version === "v1" ? operationId : `${operationId}V2`;

function operation(contract: Contract, { version, contracts, schemas, errors }: Parts): Json {
  const links = linksOf(contract, contracts, version);
  return {
    operationId: operationIdOf(contract, version),
    summary: contract.summary,
    description: [contract.description, accessNote(contract)].filter(Boolean).join("\n\n"),
    tags: [tagOf(contract.tag, version)],
    security: securityOf(contract.access),
    parameters: [
      { $ref: "#/components/parameters/RequestId" },
      ...parameters(contract.params, "path", schemas),
      ...parameters(contract.query, "query", schemas),
      ...parameters(contract.headers, "header", schemas),
    ],
    ...(contract.body ? { requestBody: requestBody(contract, schemas) } : {}),
    responses: responses(contract, version, { components: schemas, responses: errors, links }),
  };
}

function securityOf(access: Access): Json[] {
  if (access === "public") return [];
  const isForPeople = typeof access === "object" && access.proof === "id_token";
  return [{ idToken: [] }, ...(isForPeople ? [] : [{ apiToken: [] }])];
}

function accessNote({ access, rate }: Contract): string {
  if (rate === "sender") return "Authenticated by the sender's signature or token.";
  if (access === "public") return "Needs no authentication.";
  if (access === "authenticated") return "Needs authentication, and no permission.";
  return `Needs the permission \`${access.permission}\`${access.proof ? ", and an ID token: an API token is not enough" : ""}.`;
}

/** Operations that take an id from this one's reply. */
function linksOf(contract: Contract, contracts: readonly Contract[], version: Version): Json {
  const prefix = isWrapped(contract, version) ? "/data" : "";
  const linked = Object.entries(contract.links).flatMap(([thing, pointer]) =>
    contracts
      .filter(({ path }) => path === thing || path.startsWith(`${thing}/`))
      .map((target): [string, Json] => {
        const id = thing.slice(thing.lastIndexOf("{") + 1, -1);
        const operationId = operationIdOf(target, version);
        const parameters = { [id]: `$response.body#${prefix}${pointer}` };
        return [operationId, { operationId, parameters, description: target.summary }];
      }),
  );
  return Object.fromEntries(linked);
}

function parameters(schema: TSchema | undefined, place: "path" | "query" | "header", schemas: Components): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as { properties?: Json; required?: string[] };
  return Object.entries(properties).map(([name, property]) => {
    const { description, examples: _example, ...rest } = component(property as Json, schemas);
    return {
      name,
      in: place,
      required: place === "path" || required.includes(name),
      // An empty one counts as absent.
      ...(place === "query" ? { allowEmptyValue: true } : {}),
      ...(description === undefined ? {} : { description }),
      // Not beside the schema: viewers would send it.
      schema: { ...(place === "header" ? withoutFormat(rest) : rest), examples: [exampleOf(property as Json)] },
    };
  });
}

/** Generated clients can't leave out a header whose schema is a date-time. */
const withoutFormat = ({ format: _format, ...schema }: Json): Json => schema;

/** Body of an operation: JSON, and a form where the route takes it. */
function requestBody({ body, forms }: Contract, components: Components): Json {
  const schema = body as Json;
  const example = exampleOf(schema);
  const isNeeded = isRaw(body) || "minProperties" in schema;
  const required = isNeeded || ((schema.required as string[] | undefined)?.length ?? 0) > 0;
  return {
    required,
    content: {
      "application/json": { schema: component(schema, components), example },
      ...(forms ? { "application/x-www-form-urlencoded": { schema: formOf(schema), example } } : {}),
    },
  };
}

/**
 * The same fields in words. With one schema for both, openapi-python-client sends JSON as a form; with a second schema
 * of its own fields, openapi-generator leaves the class out and uses it still
 * (https://github.com/OpenAPITools/openapi-generator/issues/11730).
 */
const formOf = ({ title }: Json): Json => ({
  type: "object",
  additionalProperties: true,
  description: `The fields of ${title} by the same names, and objects as JSON.`,
});
