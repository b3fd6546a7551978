import { describe, expect, test } from "@jest/globals";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormatsModule from "ajv-formats";
import { openApiDocument } from "../../../../api/openapi/document.ts";
import { NO_EXAMPLE } from "../../../../api/openapi/examples.ts";
import { type Access, versionedPath, versionsOf } from "../../../../api/route.ts";
import { listRoutes } from "../../../../api/routes.ts";

type Json = Readonly<Record<string, unknown>>;
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly security: unknown[];
  readonly parameters: Json[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Json>> };
  readonly responses: Readonly<
    Record<string, { headers: Json; content: Readonly<Record<string, Json>>; links?: Record<string, Link> }>
  >;
}
interface Link {
  readonly operationId: string;
  readonly parameters: Readonly<Record<string, string>>;
}

const document = openApiDocument(listRoutes()) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly tags: readonly Json[];
};
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ name: `${method} ${path}`, path, operation })),
);
const routes = listRoutes().map(({ contract }) => contract);

/** What a reference points to; anything else is itself. */
function resolved(part: Json): Json {
  if (typeof part.$ref !== "string") return part;
  const keys = part.$ref.replace("#/", "").split("/");
  return keys.reduce<unknown>((parent, key) => (parent as Json)?.[key], document) as Json;
}

const at = (value: unknown, pointer: string) =>
  pointer
    .split("/")
    .slice(1)
    .reduce<unknown>((part, key) => (part as Json | undefined)?.[key], value);

const addFormats = addFormatsModule as unknown as (ajv: Ajv2020) => void;
const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  formats: { "environment-name": true, "config-set-name": true, "git-branch": true },
});
addFormats(ajv);
ajv.addSchema(document, "openapi");

function schemesOf(access: Access): string[] {
  if (access === "public") return [];
  return typeof access === "object" && access.proof === "id_token" ? ["idToken"] : ["idToken", "apiToken"];
}

/** The errors of an example against a schema of the document. */
function errorsOf(schema: unknown, example: unknown): unknown[] {
  const local = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/'));
  const validate = ajv.compile(local);
  return validate(example) ? [] : (validate.errors ?? []);
}

/** Everything of an operation that has a schema and examples: parameters, bodies and headers, errors included. */
function exemplified({ parameters, requestBody, responses }: Operation): readonly (readonly [string, Json])[] {
  const replies = Object.entries(responses).flatMap(([status, { content, headers }]) => [
    ...Object.entries(content).map(([type, media]) => [`${status} ${type}`, media] as const),
    ...Object.entries(headers).map(([header, reference]) => [`${status} ${header}`, reference as Json] as const),
  ]);
  const bodies = Object.entries(requestBody?.content ?? {}).map(([type, media]) => [`body ${type}`, media] as const);
  const named = parameters.map((parameter) => [`parameter ${resolved(parameter).name}`, parameter] as const);
  return [...named, ...bodies, ...replies].map(([place, part]) => [place, resolved(part)] as const);
}

const examplesOf = ({ example, examples = {}, schema }: Json): unknown[] => [
  ...(example === undefined ? [] : [example]),
  ...(((schema as Json).examples ?? []) as unknown[]),
  ...Object.values(examples as Record<string, Json>).map((reference) => resolved(reference).value),
];

describe("the OpenAPI document", () => {
  test("is one, in version 3.1", async () => {
    const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(document)));
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
  });

  test("names every operation once, as a function of a client can be called", () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z][A-Za-z0-9]+$/.test(id))).toEqual([]);
  });

  test("points to nothing that it does not hold", () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"(#\/[^"]+)"/g)].map(([, path]) => path ?? "");
    expect(references.length).toBeGreaterThan(10);
    for (const $ref of references)
      expect({ $ref, found: typeof resolved({ $ref }) }).toEqual({ $ref, found: "object" });
  });

  test("describes every operation, parameter, tag and error, in a sentence", () => {
    const silent = [
      ...routes
        .filter(({ summary, description }) => !summary || !description?.endsWith("."))
        .map((one) => one.operationId),
      ...operations.flatMap(({ name, operation }) =>
        operation.parameters
          .map(resolved)
          .filter(({ description }) => !String(description ?? "").endsWith("."))
          .map((parameter) => `${name}: ${parameter.name}`),
      ),
      ...document.tags.filter(({ description }) => !description).map((tag) => tag.name),
    ];
    expect(silent).toEqual([]);
  });

  test("asks for the credentials that the route takes", () => {
    for (const contract of routes) {
      const expected = schemesOf(contract.access).map((scheme) => ({ [scheme]: [] }));
      for (const version of versionsOf(contract)) {
        expect(document.paths[versionedPath(contract, version)]?.[contract.method]?.security).toEqual(expected);
      }
    }
  });

  test("has no operation of version 2 alone in version 1", () => {
    const path = "/api/environments/{environment_id}";
    expect(document.paths[path]).not.toHaveProperty("patch");
    expect(document.paths[path.replace("/api/", "/api/v2/")]).toHaveProperty("patch");
  });

  test("announces the refusals of each route", () => {
    const statuses = (path: string, method: string) => Object.keys(document.paths[path]?.[method]?.responses ?? {});
    expect(statuses("/api/environments", "post")).toEqual(
      ["200", "400", "401", "403", "409", "413", "415", "429", "500", "503"], //
    );
    expect(statuses("/api/environments/{environment_id}", "delete")).toEqual(
      expect.arrayContaining(["200", "401", "403", "404", "409", "429", "500", "503"]),
    );
    expect(statuses("/api/ready", "get")).toEqual(["200", "500", "503"]);
  });

  test("announces a conflict where there can be one, and nowhere else", () => {
    const announcing = operations.filter(({ operation }) => "409" in operation.responses);
    expect(new Set(announcing.map(({ operation }) => operation.operationId.replace(/V2$/, "")))).toEqual(
      new Set([
        ...["createEnvironment", "extendEnvironment", "switchEnvironment", "deleteEnvironment"],
        ...["createSampleEnvironment", "createConfigSet", "deleteConfigSet", "createToken"],
        ...["getExtension", "useExtension"],
      ]),
    );
  });

  test("has every header of a request as a text: generated clients can't leave out a moment", () => {
    const headers = operations.flatMap(({ operation }) => operation.parameters.map(resolved));
    const sent = headers.filter((parameter) => parameter.in === "header");
    expect(sent.map(({ name }) => name)).toContain("Last-Event-ID");
    for (const { name, schema } of sent) {
      expect({ name, schema }).toMatchObject({ schema: { type: "string" } });
      expect({ name, schema }).not.toMatchObject({ schema: { format: expect.anything() } });
    }
  });

  test("tells of a budget of an hour where an operation has one", () => {
    const { description, responses } = document.paths["/api/auth/password-reset"]?.post ?? {};
    expect(description).toMatch(/5 times an hour.*`X-RateLimit-\*` tell of that hour/);
    expect(responses?.["429"]).toMatchObject({ description: expect.stringContaining("own budget") });
    const limit = document.components.headers?.["X-RateLimit-Limit"];
    expect(limit?.description).toMatch(/minute.*hour/);
  });
});

describe("examples", () => {
  test.each(operations)("of $name are there for every part, and are what they exemplify", ({ operation }) => {
    for (const [place, part] of exemplified(operation)) {
      const examples = examplesOf(part);
      expect({ place, count: examples.length > 0 }).toEqual({ place, count: true });
      for (const example of examples) {
        expect({ place, example, errors: errorsOf(part.schema, example) }).toEqual({ place, example, errors: [] });
        expect({ place, example: JSON.stringify(example) }).not.toMatchObject({
          example: expect.stringContaining(NO_EXAMPLE),
        });
      }
    }
  });

  test("of schemas are valid", () => {
    for (const [title, schema] of Object.entries(document.components.schemas ?? {})) {
      for (const example of (schema.examples ?? []) as unknown[]) {
        expect({ title, errors: errorsOf(schema, example) }).toEqual({ title, errors: [] });
      }
    }
  });

  test("of a reply that has two states show each under its status", () => {
    const { responses = {} } = document.paths["/api/ready"]?.get ?? {};
    const shown = (status: string) => at(responses[status]?.content["application/json"], "/example/status");
    expect([shown("200"), shown("503")]).toEqual(["ready", "not ready"]);
  });
});

describe("links", () => {
  const linked = operations.flatMap(({ name, operation }) =>
    Object.values(operation.responses).flatMap(({ links = {}, content }) =>
      Object.values(links).map((link) => ({ name, link, example: content["application/json"]?.example })),
    ),
  );

  test.each(linked)("of $name take $link.operationId what the reply holds", ({ link, example }) => {
    const target = operations.find(({ operation }) => operation.operationId === link.operationId);
    for (const [parameter, expression] of Object.entries(link.parameters)) {
      expect(target?.path).toContain(`{${parameter}}`);
      expect(at(example, expression.replace("$response.body#", ""))).toEqual(expect.any(String));
    }
  });

  test("lead to every operation that asks for an id", () => {
    const reached = new Set(linked.map(({ link }) => link.operationId));
    const lost = operations.filter(({ path, operation }) => /id\}/.test(path) && !reached.has(operation.operationId));
    expect(lost.map(({ name }) => name)).toEqual([]);
  });
});

test("every refusal has the headers that come with it", () => {
  const responses = (path: string, method: string) =>
    Object.fromEntries(
      Object.entries(document.paths[path]?.[method]?.responses ?? {}).map(([status, { headers }]) => [
        status,
        Object.keys(headers),
      ]),
    );
  const limits = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];
  expect(responses("/api/environments", "post")).toMatchObject({
    400: ["X-Request-ID", ...limits, "Retry-After"],
    401: ["X-Request-ID", ...limits, "WWW-Authenticate"],
    403: ["X-Request-ID", ...limits],
    413: ["X-Request-ID", ...limits],
    429: ["X-Request-ID", ...limits, "Retry-After"],
    503: ["X-Request-ID", "Retry-After"],
  });
  expect(responses("/api/environments", "get")).toMatchObject({ 400: ["X-Request-ID", ...limits] });
  expect(responses("/api/ready", "get")).toMatchObject({ 500: ["X-Request-ID"], 503: ["X-Request-ID", "Retry-After"] });
});

test("every header that the document describes is one of some answer", () => {
  const used = JSON.stringify(document.paths);
  const described = Object.keys(document.components.headers ?? {});
  expect(described.filter((name) => !used.includes(`#/components/headers/${name}"`))).toEqual([]);
});

test("every route that changes something has an audit target", () => {
  const silent = routes.filter(({ method, auditTarget }) => method !== "get" && auditTarget === undefined);
  expect(silent).toEqual([]);
});
