import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, type Person, startApiService } from "../../support/http/api-service.ts";

let service: ApiService;
beforeEach(async () => {
  service = await startApiService();
  await call("post", "/api/environments", minimal);
});
afterEach(() => service.stop());

const minimal = { environment_name: "feature-test", backend_repo: "shop-api", backend_branch: "main" };
const PATH = "/api/v2/environments/feature-test";

async function call(
  method: "get" | "post" | "patch" | "delete",
  path: string,
  body?: object,
  as: Person = "developer",
) {
  const request = service.http[method](path).set("authorization", await service.bearer(as));
  return body === undefined ? request : request.send(body);
}

async function found(): Promise<EphemeralEnvironment> {
  const environment = await service.environments.find("feature-test");
  if (environment === undefined) throw new Error("no environment");
  return environment;
}

/** No reconcile has noted what it requests. */
const UNKNOWN_COST = {
  ...{ currency: "USD", basis: "requests", estimate: null, actual: null, per_hour: null, forecast: null, since: null },
  coverage: { known_percent: null, allocated_percent: null },
};

describe("the switches of an environment", () => {
  test("are turned one by one, and answered with the whole environment", async () => {
    const reply = await call("patch", PATH, { suspended: true });
    expectPromised(reply, "patch", "/api/v2/environments/{environment_id}");
    const detail = (await call("get", "/api/environments/feature-test")).body;
    expect(reply.body).toEqual({
      status: "success",
      data: {
        ...detail,
        protected: false,
        suspended: true,
        managed_by: null,
        observed: false,
        conditions: [],
        cost: UNKNOWN_COST,
      },
      timestamp: service.clock.now().toISOString(),
    });
    const both = await call("patch", `/api/v2/environments/${detail.id}`, { protected: true });
    expect(both.body.data).toMatchObject({ protected: true, suspended: true });
    expect((await call("patch", PATH, { protected: false, suspended: false })).body.data).toMatchObject({
      protected: false,
      suspended: false,
    });
  });

  test("come with the conditions, as the operator wrote them", async () => {
    const condition = { type: "Suspended", status: "True", reason: "Suspended", message: "scaled to zero" } as const;
    const conditions = [{ ...condition, lastTransitionTime: "2026-06-01T12:05:00Z", observedGeneration: 2 }];
    service.environments.put({ ...(await found()), status: { phase: "ready", conditions } });
    const reply = await call("patch", PATH, { suspended: true });
    expectPromised(reply, "patch", "/api/v2/environments/{environment_id}");
    expect(reply.body.data.conditions).toEqual([{ ...condition, last_transition_time: "2026-06-01T12:05:00.000Z" }]);
  });

  test("come with the tool that keeps the environment as Git has it", async () => {
    const { metadata, ...rest } = await found();
    const labels = { "kustomize.toolkit.fluxcd.io/name": "apps" };
    service.environments.put({ ...rest, metadata: { ...metadata, labels } });
    expect((await call("get", PATH)).body.data).toMatchObject({ managed_by: "flux" });
  });

  test("are shown with the environment, in version 2 alone", async () => {
    await call("patch", PATH, { suspended: true });
    const condition = { type: "Suspended", status: "True", reason: "Suspended", message: "scaled to zero" } as const;
    const conditions = [{ ...condition, lastTransitionTime: "2026-06-01T12:05:00Z", observedGeneration: 2 }];
    service.environments.put({ ...(await found()), status: { phase: "ready", conditions } });
    const reply = await call("get", PATH);
    expectPromised(reply, "get", "/api/v2/environments/{environment_id}");
    const { body: detail } = await call("get", "/api/environments/feature-test");
    expect(reply.body.data).toEqual({
      ...{ ...detail, protected: false, suspended: true, managed_by: null, observed: false },
      conditions: [{ ...condition, last_transition_time: "2026-06-01T12:05:00.000Z" }],
      cost: UNKNOWN_COST,
    });
  });

  test("protect from deletion until they are turned back", async () => {
    await call("patch", PATH, { protected: true });
    expectProblem(await call("delete", PATH), 409, /protected/);
    await call("patch", PATH, { protected: false });
    expect((await call("delete", PATH)).status).toBe(200);
  });

  test("stay while the environment is being deleted", async () => {
    await call("delete", PATH);
    expectProblem(await call("patch", PATH, { protected: true }), 409, "The environment is being deleted");
    expect((await found()).spec).not.toHaveProperty("protected");
  });

  test.each([
    [{}, /must name a field to change/],
    [{ suspended: "true" }, /suspended: must be a boolean/],
    [{ protected: null, suspended: null }, /must name a field to change/],
    [{ suspended: true, ttl_hours: 4 }, /ttl_hours: is not a known field/],
  ])("stay when %j asks for it", async (body, words) => {
    expectProblem(await call("patch", PATH, body), 400, words, "ENV_CONFIG_INVALID");
    expect((await found()).metadata.generation).toBe(1);
  });

  test("are none of version 1's", async () => {
    expectProblem(
      await call("patch", "/api/environments/feature-test", { suspended: true }),
      405,
      "Method not allowed",
    );
    expect((await found()).spec).not.toHaveProperty("suspended");
  });
});
