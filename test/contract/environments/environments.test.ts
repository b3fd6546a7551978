import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { HOUR_MS } from "../../../crds/durations.ts";
import { EXTENSION_NOTE_ANNOTATION } from "../../../crds/group.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, type Person, startApiService } from "../../support/http/api-service.ts";

let service: ApiService;
beforeEach(async () => {
  service = await startApiService();
});
afterEach(() => service.stop());

const minimal = { environment_name: "feature-test", backend_repo: "shop-api", backend_branch: "main" };

async function call(method: "get" | "post" | "put" | "delete", path: string, as: Person, body?: object) {
  const request = service.http[method](path).set("authorization", await service.bearer(as));
  return body === undefined ? request : request.send(body);
}
const create = (as: Person = "developer", body: object = minimal) => call("post", "/api/environments", as, body);

describe("reading one environment", () => {
  test("shows all of it, by id and by name", async () => {
    const { id } = (await create()).body.environment;
    const byId = await call("get", `/api/environments/${id}`, "developer");
    expectPromised(byId, "get", "/api/environments/{environment_id}");
    expect(byId.body).toEqual({
      id,
      name: "feature-test",
      status: "creating",
      urls: { backend: "https://feature-test--api.env.example.test:18443" },
      created_at: "2026-06-01T12:00:00.000Z",
      updated_at: "2026-06-01T12:00:00.000Z",
      expires_at: "2026-06-02T12:00:00.000Z",
      ttl_hours: 24,
      creator: { email: "dev@example.test", name: "Dev" },
      repositories: { backend: { repo: "shop-api", branch: "main", commit: "" } },
      cluster: { namespace: "env-feature-test", deployer_app: "env-feature-test" },
      configuration: { config_set: "", database_provisioned: false, auto_generated_secrets: true },
    });
    expect((await call("get", "/api/environments/feature-test", "developer")).body).toEqual(byId.body);
    expect((await call("get", `/api/environments/${id.toUpperCase()}`, "developer")).body).toEqual(byId.body);
    expect((await call("get", "/api/environments/FEATURE-TEST", "developer")).status).toBe(404);
  });

  test("takes a path with a slash at its end for the same path", async () => {
    await create();
    for (const path of ["/api/environments", "/api/v2/environments", "/api/environments/feature-test", "/api/health"]) {
      const [plain, slashed] = [await call("get", path, "developer"), await call("get", `${path}/`, "developer")];
      expect([slashed.status, Object.keys(slashed.body)]).toEqual([200, Object.keys(plain.body)]);
    }
    expect((await call("put", "/api/environments/", "developer")).headers.allow).toBe("GET, HEAD, POST");
    expect((await call("delete", "/api/environments/feature-test/", "developer")).status).toBe(200);
  });

  test("shows the status that the operator has written, and the time of the last change", async () => {
    await create();
    const made = await service.environments.find("feature-test");
    if (made === undefined) throw new Error("not made");
    service.environments.put({
      ...made,
      status: {
        phase: "ready",
        urls: { backend: "https://other.example.test" },
        specChangedAt: "2026-06-01T12:00:01Z",
        components: { backend: { commit: "abc" } },
        conditions: [
          { type: "Ready", status: "True", reason: "Ready", message: "", lastTransitionTime: "2026-06-01T12:05:00Z" },
        ],
      },
    });
    expect((await call("get", "/api/environments/feature-test", "developer")).body).toMatchObject({
      status: "ready",
      urls: { backend: "https://other.example.test" },
      updated_at: "2026-06-01T12:05:00.000Z",
      repositories: { backend: { commit: "abc" } },
    });
  });

  test("shows further hosts in version 2 alone, once the operator has seen them", async () => {
    await create();
    const made = await service.environments.find("feature-test");
    if (made === undefined) throw new Error("not made");
    const urls = { backend: "https://other.example.test" };
    const hosts = { admin: "https://feature-test--admin.env.example.test:18443" };
    const shown = async (path: string) => (await call("get", path, "developer")).body;
    expect((await shown("/api/v2/environments/feature-test")).data.urls).not.toHaveProperty("hosts");
    service.environments.put({ ...made, status: { phase: "ready", urls: { ...urls, hosts } } });
    expect((await shown("/api/environments/feature-test")).urls).toEqual(urls);
    expect((await shown("/api/environments")).environments[0].urls).toEqual(urls);
    const [one, all] = [
      await call("get", "/api/v2/environments/feature-test", "developer"),
      await call("get", "/api/v2/environments", "developer"),
    ];
    expectPromised(one, "get", "/api/v2/environments/{environment_id}");
    expectPromised(all, "get", "/api/v2/environments");
    expect(one.body.data.urls).toEqual({ ...urls, hosts });
    expect(all.body.data.environments[0].urls).toEqual({ ...urls, hosts });
  });

  test.each<[string, object | undefined, object]>([
    ["a manifest without an owner", { kind: "manifest" }, { email: "", name: "manifest" }],
    ["a pull request", { kind: "pull_request", login: "octo" }, { email: "", name: "octo" }],
  ])("names the creator of %s", async (_case, trigger, creator) => {
    await create();
    const made = await service.environments.find("feature-test");
    if (made === undefined) throw new Error("not made");
    const { owner: _owner, ...spec } = made.spec;
    service.environments.put({ ...made, spec: { ...spec, trigger: trigger as NonNullable<typeof spec.trigger> } });
    expect((await call("get", "/api/environments/feature-test", "maintainer")).body.creator).toEqual(creator);
  });
});

describe("extending an environment", () => {
  test("moves the expiry to creation plus TTL and keeps the reason on the resource", async () => {
    const { id } = (await create()).body.environment;
    service.clock.advance(2 * HOUR_MS);
    const reply = await call("put", `/api/environments/${id}`, "colleague", { ttl_hours: 48, description: "review" });
    expectPromised(reply, "put", "/api/environments/{environment_id}");
    expect(reply.body).toEqual({
      status: "success",
      environment: { id, expires_at: "2026-06-03T12:00:00.000Z", ttl_hours: 48 },
    });
    const extended = await service.environments.find(id);
    expect(extended?.spec.ttlHours).toBe(48);
    expect(extended?.metadata.annotations).toMatchObject({ [EXTENSION_NOTE_ANNOTATION]: "review" });
  });

  test.each([
    { ttl_hours: 169, detail: /168/, code: "ENV_TTL_EXCEEDED" },
    { ttl_hours: 0, detail: /ttl_hours/, code: "ENV_CONFIG_INVALID" },
    { ttl_hours: 2, detail: /expired/, code: "ENV_CONFIG_INVALID" },
    { ttl_hours: null, detail: /ttl_hours: must be an integer/, code: "ENV_CONFIG_INVALID" },
    { description: "no TTL", detail: /ttl_hours: is required/, code: "ENV_CONFIG_INVALID" },
    { ttl_hours: 48, creator: {}, detail: /creator: is not a known field/, code: "ENV_CONFIG_INVALID" },
    { ttl_hours: 48, repositories: {}, detail: /repositories/, code: "ENV_CONFIG_INVALID" },
  ])("changes nothing when refused: $ttl_hours ($code)", async ({ detail, code, ...body }) => {
    await create();
    service.clock.advance(3 * HOUR_MS);
    expectProblem(await call("put", "/api/environments/feature-test", "developer", body), 400, detail, code);
    expect((await service.environments.find("feature-test"))?.spec.ttlHours).toBe(24);
  });

  test("is refused while the environment is being deleted", async () => {
    await create();
    await call("delete", "/api/environments/feature-test", "developer");
    const reply = await call("put", "/api/environments/feature-test", "developer", { ttl_hours: 48 });
    expectProblem(reply, 409, "The environment is being deleted");
    service.clock.advance(30 * HOUR_MS);
    const late = await call("put", "/api/environments/feature-test", "developer", { ttl_hours: 1 });
    expectProblem(late, 409, "The environment is being deleted");
  });
});

describe("deleting an environment", () => {
  test("starts the deletion, shows it at once, and is fine to be asked again", async () => {
    const { id } = (await create()).body.environment;
    for (const _time of ["first", "second"]) {
      const reply = await call("delete", `/api/environments/${id}`, "developer");
      expectPromised(reply, "delete", "/api/environments/{environment_id}");
      expect(reply.body).toEqual({ status: "success", message: expect.stringContaining("feature-test") });
    }
    expect((await call("get", `/api/environments/${id}`, "developer")).body.status).toBe("terminating");
  });

  test("says that there is none when it is gone, as the specification words it", async () => {
    const { id } = (await create()).body.environment;
    await call("delete", `/api/environments/${id}`, "developer");
    service.environments.finishRemoval("feature-test");
    expectProblem(
      await call("delete", `/api/environments/${id}`, "developer"),
      404,
      "Environment not found",
      "ENV_NOT_FOUND",
    );
  });

  test("is refused while the environment is protected", async () => {
    await create();
    const made = await service.environments.find("feature-test");
    if (made === undefined) throw new Error("not made");
    service.environments.put({ ...made, spec: { ...made.spec, protected: true } });
    expectProblem(await call("delete", "/api/environments/feature-test", "developer"), 409, /protected/);
    expect((await service.environments.find("feature-test"))?.metadata).not.toHaveProperty("deletionTimestamp");
  });

  test("leaves a neighbour alone whose name begins alike", async () => {
    await create();
    await create("developer", { ...minimal, environment_name: "feature-test-2" });
    await call("delete", "/api/environments/feature-test", "developer");
    expect((await service.environments.find("feature-test-2"))?.metadata).not.toHaveProperty("deletionTimestamp");
  });
});
