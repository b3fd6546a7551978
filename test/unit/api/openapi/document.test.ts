import { describe, expect, test } from "@jest/globals";
import { Validator } from "@seriousme/openapi-schema-validator";
import { type Access, versionedPath, versionsOf } from "../../../../api/route.ts";
import { listRoutes } from "../../../../api/routes.ts";
import { document, operations, resolved } from "./generated-document.ts";

const routes = listRoutes().map(({ contract }) => contract);

function schemesOf(access: Access): string[] {
  if (access === "public") return [];
  return typeof access === "object" && access.proof === "id_token" ? ["idToken"] : ["idToken", "apiToken"];
}

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
        "createEnvironment",
        "extendEnvironment",
        "updateEnvironment",
        "resetDatabase",
        "deleteEnvironment",
        "createSampleEnvironment",
        "createConfigSet",
        "deleteConfigSet",
        "createToken",
        "redeliverWebhook",
        "repairHook",
        "getExtension",
        "useExtension",
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

  test("names a budget of an hour where an operation has one", () => {
    const { description, responses } = document.paths["/api/auth/password-reset"]?.post ?? {};
    expect(description).toMatch(/5 requests an hour.*`X-RateLimit-\*` count them/);
    expect(responses?.["429"]).toMatchObject({ description: expect.stringContaining("own budget") });
    const limit = document.components.headers?.["X-RateLimit-Limit"];
    expect(limit?.description).toMatch(/minute.*hour/);
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
  // Changes by webhooks are audited where they happen, perhaps later and in another process.
  const isWebhook = ({ rate }: (typeof routes)[number]) => rate === "sender" || rate === "webhook";
  const silent = routes.filter((one) => one.method !== "get" && one.auditTarget === undefined && !isWebhook(one));
  // The route changes nothing.
  expect(silent.map(({ operationId }) => operationId)).toEqual(["simulateWebhook"]);
});
