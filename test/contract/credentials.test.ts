import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type Contract, type Version, versionedPath, versionsOf } from "../../api/route.ts";
import { listRoutes } from "../../api/routes/index.ts";
import { expectProblem, expectPromised, operations } from "../support/api-promises.ts";
import { type ApiService, PEOPLE, type Person, startApiService } from "../support/api-service.ts";
import { refusedCredentials } from "../support/refused-credentials.ts";

let service: ApiService;
let foreign: ApiService;
beforeAll(async () => {
  [service, foreign] = await Promise.all([startApiService(), startApiService()]);
});
afterAll(() => Promise.all([service.stop(), foreign.stop()]));

const routes = listRoutes().map(({ contract }) => contract);
const guarded = routes.filter(({ access }) => access !== "public");
const walk = guarded.flatMap((contract) =>
  versionsOf(contract).map((version) => ({ contract, version, name: nameOf(contract, version) })),
);

const BODIES: Readonly<Record<string, () => object>> = {
  createEnvironment: () => ({ environment_name: unused(), backend_repo: "shop-api", backend_branch: "main" }),
  extendEnvironment: () => ({ ttl_hours: 48 }),
  switchEnvironment: () => ({ suspended: true }),
};

let count = 0;
const unused = () => `made-${++count}`;

function nameOf(contract: Contract, version: Version) {
  return `${contract.method.toUpperCase()} ${versionedPath(contract, version)}`;
}

function call(contract: Contract, version: Version, authorization?: string, environment = "absent") {
  const path = versionedPath(contract, version).replace("{environment_id}", environment);
  const request = service.http[contract.method](path).send(BODIES[contract.operationId]?.());
  return authorization === undefined ? request : request.set("authorization", authorization);
}

describe("a route that is not public", () => {
  beforeEach(() => {
    for (const { metadata } of service.environments.list()) service.environments.finishRemoval(metadata.name);
  });

  test.each(walk)("$name is refused without a credential", async ({ contract, version }) => {
    const reply = await call(contract, version);
    expectProblem(reply, 401, "Authentication required");
    expectPromised(reply, contract.method, versionedPath(contract, version));
    expect(reply.headers["www-authenticate"]).toBe("Bearer");
    expect(service.environments.list()).toEqual([]);
  });

  test.each(walk)("$name is refused with whatever proves nothing", async ({ contract, version }) => {
    for (const [kind, authorization] of Object.entries(await refusedCredentials(service, foreign))) {
      const reply = await call(contract, version, authorization);
      expect({ kind, status: reply.status }).toEqual({ kind, status: 401 });
      expectProblem(reply, 401, "Invalid or expired credentials");
      expect(service.environments.list()).toEqual([]);
    }
  });

  test.each(walk)("$name is refused to somebody without a role", async ({ contract, version }) => {
    const reply = await call(contract, version, await service.bearer("nobody"));
    expectProblem(reply, 403);
    expectPromised(reply, contract.method, versionedPath(contract, version));
  });

  const changing = walk.filter(({ contract }) => contract.method !== "get");
  test.each(changing)("$name is refused to a viewer, existing or not", async ({ contract, version }) => {
    await service.environments.create("shared", {
      backend: { repository: "r", branch: "main" },
      access: { groups: ["shop"] },
    });
    for (const environment of ["absent", "shared"]) {
      expectProblem(await call(contract, version, await service.bearer("viewer"), environment), 403);
    }
    const after = await service.environments.find("shared");
    expect(after?.metadata.generation).toBe(1);
    expect(after?.metadata).not.toHaveProperty("deletionTimestamp");
    expect(service.environments.list()).toHaveLength(1);
  });

  const single = walk.filter(({ contract }) => contract.path.includes("{environment_id}"));
  test.each(single)("$name answers for another's environment exactly as for none", async ({ contract, version }) => {
    const secret = await service.environments.create("secret", {
      backend: { repository: "r", branch: "main" },
      owner: { subject: `${service.issuer.issuer}#dev`, email: "out@example.test", name: "Dev" },
      access: { groups: ["shop"] },
    });
    const authorization = await service.bearer("stranger");
    const absent = await call(contract, version, authorization);
    expectProblem(absent, 404, "Environment not found", "ENV_NOT_FOUND");
    for (const known of ["secret", secret.metadata.uid]) {
      expect((await call(contract, version, authorization, known)).body).toEqual(absent.body);
    }
    expect(await service.environments.find("secret")).toEqual(secret);
  });

  test.each(walk)("$name serves those who may, as it is documented", async ({ contract, version }) => {
    for (const person of ["developer", "colleague", "maintainer", "admin"] as const satisfies Person[]) {
      const name = unused();
      await service.environments.create(name, {
        backend: { repository: "r", branch: "main" },
        owner: { subject: `${service.issuer.issuer}#dev`, email: "", name: "" },
        access: { groups: ["shop"] },
      });
      if (contract.operationId === "createEnvironment" && !["developer", "colleague"].includes(person)) continue;
      const reply = await call(contract, version, await service.bearer(person), name);
      expect(reply.status).toBe(200);
      expectPromised(reply, contract.method, versionedPath(contract, version));
    }
  });

  test("knows its owner by issuer and subject, never by the e-mail", async () => {
    await call(
      routeOf("createEnvironment"),
      "v1",
      await service.bearer("developer", { groups: ["developers", "shop"] }),
    );
    const name = service.environments.list()[0]?.metadata.name ?? "";
    const elsewhere = { groups: ["developers"] };
    const moved = await service.bearer("developer", { ...elsewhere, email: "new@example.test" });
    const pretender = await service.bearer("stranger", { ...elsewhere, email: "dev@example.test" });
    expect((await call(routeOf("getEnvironment"), "v1", moved, name)).status).toBe(200);
    expectProblem(await call(routeOf("getEnvironment"), "v1", pretender, name), 404, undefined, "ENV_NOT_FOUND");
  });
});

describe("where a credential may stand", () => {
  test("nowhere but in one Authorization header", async () => {
    const token = await service.issuer.sign(PEOPLE.developer);
    const asked = service.http.get(`/api/environments?access_token=${token}`).set("cookie", `token=${token}`);
    expectProblem(await asked, 401, "Authentication required");
    const path = "/api/environments";
    const twice = await service.http
      .get(path)
      .set("authorization", [`Bearer ${token}`, `Bearer ${token}`] as unknown as string);
    expectProblem(twice, 401);
  });

  test("never in the log, accepted or not", async () => {
    const refused = Object.values(await refusedCredentials(service, foreign));
    const accepted = await service.bearer("developer");
    for (const authorization of [...refused, accepted])
      await service.http.get("/api/environments").set({ authorization });
    expect(service.log.filter(({ message }) => message === "a credential was refused").length).toBeGreaterThanOrEqual(
      refused.length,
    );
    expect(JSON.stringify(service.log)).not.toMatch(/eyJ[A-Za-z0-9_-]{10}/);
  });
});

function routeOf(operationId: string): Contract {
  const found = routes.find((contract) => contract.operationId === operationId);
  if (found === undefined) throw new Error(`no route ${operationId}`);
  return found;
}

test("every operation of the document is a route, in all its versions", () => {
  const served = routes.flatMap((contract) =>
    versionsOf(contract).map((version) => [contract.method, versionedPath(contract, version)]),
  );
  expect([...operations()].sort()).toEqual(served.sort());
});
