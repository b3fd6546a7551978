import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type ApiService, type ServiceOptions, startApiService } from "../../support/http/api-service.ts";
import { shapeOf } from "../../support/http/shape-of.ts";

let service: ApiService;
let authorization: string;
const start = async (options: ServiceOptions = {}) => {
  service = await startApiService(options);
  authorization = await service.bearer("admin");
};
beforeEach(() => start());
afterEach(() => service.stop());

describe("Health", () => {
  test("GET /api/health", async () => {
    const reply = await service.http.get("/api/health");
    expect([reply.status, reply.body.status]).toEqual([200, "healthy"]);
    expect(shapeOf(reply.body)).toEqual({
      status: "string",
      timestamp: "ISO 8601",
      version: "string",
      service: "string",
    });
  });

  const checks = { datastore: "string", cache: "string", deployer: "string" };
  test("GET /api/ready", async () => {
    const reply = await service.http.get("/api/ready");
    expect([reply.status, reply.body.status, reply.body.checks.datastore]).toEqual([200, "ready", "healthy"]);
    expect(shapeOf(reply.body)).toEqual({ status: "string", checks, timestamp: "ISO 8601" });
  });

  test("GET /api/ready when a dependency is unhealthy", async () => {
    service.health.setHealthy("deployer", false);
    const reply = await service.http.get("/api/ready");
    expect([reply.status, reply.body.status, reply.body.checks.deployer]).toEqual([503, "not ready", "unhealthy"]);
    expect(shapeOf(reply.body)).toEqual({ status: "string", checks, timestamp: "ISO 8601" });
  });

  test("GET /api/status", async () => {
    const reply = await service.http.get("/api/status");
    expect(shapeOf(reply.body)).toMatchObject({
      status: "string",
      timestamp: "ISO 8601",
      version: "string",
      services: {
        datastore: { healthy: "boolean", response_time_ms: "integer", last_check: "ISO 8601" },
        cache: {
          healthy: "boolean",
          response_time_ms: "integer",
          memory_usage: "string",
          last_check: "ISO 8601",
        },
        deployer: { healthy: "boolean", applications_synced: "integer", last_check: "ISO 8601" },
      },
    });
  });
});

const KNOWN_BY_METHOD_AND_PATH = [
  ["get", "/api/config-sets"],
  ["post", "/api/config-sets"],
  ["get", "/api/config-sets/{id}"],
  ["put", "/api/config-sets/{id}"],
  ["delete", "/api/config-sets/{id}"],
  ["get", "/api/tokens"],
  ["delete", "/api/tokens/{id}"],
  ["get", "/api/tokens/{id}/value"],
  ["get", "/api/repos"],
  ["get", "/api/repos/{id}"],
  ["post", "/api/repos/reload"],
  ["post", "/api/auth/password-reset"],
  ["get", "/api/auth/user"],
  ["get", "/api/helm/config-template"],
  ["get", "/api/demos/dashboard"],
  ["post", "/api/demos/sample-environment"],
  ["post", "/api/environments/cleanup-failed"],
] as const;

describe("Endpoints known by method and path only", () => {
  const document = JSON.parse(readFileSync(new URL("../../../api/openapi.json", import.meta.url), "utf8"));

  test.each(KNOWN_BY_METHOD_AND_PATH)("%s %s is there, in both versions", async (method, path) => {
    for (const versioned of [path, path.replace("/api/", "/api/v2/")]) {
      expect(document.paths[versioned]).toHaveProperty(method);
      const reply = await service.http[method](versioned.replaceAll(/\{\w+\}/g, "unknown"));
      // Without a credential the answer only requires one; a missing body is reported where no credential is needed.
      expect([401, 400]).toContain(reply.status);
    }
  });
});

describe("Versioning", () => {
  test("v1 is /api/*, v2 is /api/v2/*, and both take both credentials", async () => {
    const { value } = await service.makeToken("admin");
    for (const credential of [authorization, `Bearer ${value}`]) {
      const v1 = await service.http.get("/api/environments").set("authorization", credential);
      const v2 = await service.http.get("/api/v2/environments").set("authorization", credential);
      expect([v1.status, v2.status]).toEqual([200, 200]);
      expect(v2.body).toEqual({ status: "success", data: v1.body, timestamp: expect.any(String) });
    }
  });
});

describe("Interactive documentation", () => {
  test.each(["/docs", "/redoc"])("is served at %s", async (path) => {
    const reply = await service.http.get(path);
    expect([reply.status, reply.type]).toEqual([200, "text/html"]);
  });
});
