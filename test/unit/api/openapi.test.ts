import { describe, expect, test } from "@jest/globals";
import { openApiDocument } from "../../../api/openapi.ts";
import { versionedPath, versionsOf } from "../../../api/route.ts";
import { listRoutes } from "../../../api/routes/index.ts";
import * as reports from "../../../api/schemas/environment-report.ts";
import * as environments from "../../../api/schemas/environments.ts";
import { Problem } from "../../../api/schemas/fields.ts";
import { checker } from "../../../api/validation.ts";

const document = openApiDocument(listRoutes(), "1") as {
  paths: Record<
    string,
    Record<string, { operationId: string; security: unknown[]; responses: Record<string, unknown> }>
  >;
  components: { schemas: Record<string, unknown> };
};
const operations = Object.values(document.paths).flatMap((item) => Object.values(item));

describe("the OpenAPI document", () => {
  test("names every operation once", () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("points to nothing that it does not hold", () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path ?? "");
    expect(references.length).toBeGreaterThan(10);
    for (const path of references) {
      const found = path.split("/").reduce<unknown>((part, key) => (part as Record<string, unknown>)?.[key], document);
      expect({ path, found: typeof found }).toEqual({ path, found: "object" });
    }
  });

  test("asks for a credential exactly where the route does", () => {
    for (const { contract } of listRoutes()) {
      const expected = contract.access === "public" ? [] : [{ bearer: [] }];
      for (const version of versionsOf(contract)) {
        expect(document.paths[versionedPath(contract, version)]?.[contract.method]?.security).toEqual(expected);
      }
    }
  });

  test("leaves what version 1 does not have out of it", () => {
    const path = "/api/environments/{environment_id}";
    expect(document.paths[path]).not.toHaveProperty("patch");
    expect(document.paths[path.replace("/api/", "/api/v2/")]).toHaveProperty("patch");
  });

  test("announces the refusals of each route", () => {
    expect(Object.keys(document.paths["/api/environments"]?.post?.responses ?? {})).toEqual([
      "200",
      "400",
      "401",
      "403",
      "413",
      "415",
      "429",
      "500",
      "503",
    ]);
    expect(Object.keys(document.paths["/api/environments/{environment_id}"]?.delete?.responses ?? {})).toEqual(
      expect.arrayContaining(["200", "401", "403", "404", "409", "429", "500", "503"]),
    );
    expect(Object.keys(document.paths["/api/ready"]?.get?.responses ?? {})).toEqual(["200", "500", "503"]);
  });
});

test("every refusal has the headers that come with it", () => {
  const responses = (path: string, method: string) =>
    Object.fromEntries(
      Object.entries(document.paths[path]?.[method]?.responses ?? {}).map(([status, response]) => [
        status,
        Object.keys((response as { headers: object }).headers),
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
  expect(responses("/api/ready", "get")).toMatchObject({ 500: ["X-Request-ID"] });
});

test("every header that the document describes is one of some answer", () => {
  const described = Object.keys((document.components as { headers?: object }).headers ?? {});
  const used = JSON.stringify(document.paths);
  expect(described.filter((name) => !used.includes(`#/components/headers/${name}"`))).toEqual([]);
});

test("every example of a schema is one", () => {
  const schemas = [...Object.values(environments), ...Object.values(reports), Problem] as {
    title?: string;
    examples?: unknown[];
  }[];
  const examples = schemas.flatMap((schema) => (schema.examples ?? []).map((example) => ({ schema, example })));
  expect(examples.length).toBeGreaterThan(5);
  for (const { schema, example } of examples) {
    expect({ title: schema.title, ...checker(schema)(example) }).toMatchObject({ title: schema.title, valid: true });
  }
});

test("every route that changes something says what it is about", () => {
  const silent = listRoutes().filter(({ contract }) => contract.method !== "get" && contract.concerns === undefined);
  expect(silent).toEqual([]);
});
