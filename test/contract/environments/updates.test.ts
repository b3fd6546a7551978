import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { WAKE_ANNOTATION } from "../../../crds/group.ts";
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

/** No reconcile has recorded its requests. */
const UNKNOWN_COST = {
  currency: "USD",
  basis: "requests",
  estimate: null,
  actual: null,
  per_hour: null,
  forecast: null,
  since: null,
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
        protected_until: null,
        suspended: true,
        sleep: null,
        database_seed: null,
        database_from: null,
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
      ...detail,
      protected: false,
      protected_until: null,
      suspended: true,
      sleep: null,
      database_seed: null,
      database_from: null,
      managed_by: null,
      observed: false,
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

describe("the sleep of an environment", () => {
  const schedule = { time_zone: "Europe/Berlin", awake: ["Mon-Fri 08:00-19:00"] };

  test("follows a schedule, until it is to be awake always", async () => {
    expect((await call("patch", PATH, { sleep: { schedule } })).status).toBe(200);
    expect((await found()).spec.sleep).toEqual({ schedule: { timeZone: "Europe/Berlin", awake: schedule.awake } });
    expect((await call("patch", PATH, { sleep: {} })).status).toBe(200);
    expect((await found()).spec.sleep).toEqual({});
  });

  test("follows idleness, which replaces the schedule", async () => {
    await call("patch", PATH, { sleep: { schedule } });
    const sleep = { after_idle_minutes: 60, minimum_requests: 10 };
    expect((await call("patch", PATH, { sleep })).status).toBe(200);
    expect((await found()).spec.sleep).toEqual({ afterIdleMinutes: 60, minimumRequests: 10 });
  });

  test("is part of a creation, in version 2 alone", async () => {
    const asleep = { ...minimal, environment_name: "sleepy-test", sleep: { schedule } };
    const reply = await call("post", "/api/v2/environments", asleep);
    expectPromised(reply, "post", "/api/v2/environments");
    expect((await service.environments.find("sleepy-test"))?.spec.sleep?.schedule?.timeZone).toBe("Europe/Berlin");
    const former = await call("post", "/api/environments", { ...asleep, environment_name: "other-test" });
    expectProblem(former, 400, /sleep: is not a known field/, "ENV_CONFIG_INVALID");
  });

  test("is shown as the operator wrote it", async () => {
    const since = "2026-06-01T17:00:00Z";
    const nextAt = "2026-06-02T06:00:00Z";
    const stored = { timeZone: "Europe/Berlin", awake: schedule.awake };
    const sleep = { state: "asleep", since, cause: "schedule", schedule: stored, nextAt } as const;
    service.environments.put({ ...(await found()), status: { phase: "ready", sleep } });
    const reply = await call("get", PATH);
    expectPromised(reply, "get", "/api/v2/environments/{environment_id}");
    expect(reply.body.data.sleep).toEqual({
      state: "asleep",
      since: "2026-06-01T17:00:00.000Z",
      cause: "schedule",
      next_at: "2026-06-02T06:00:00.000Z",
      schedule,
      after_idle_minutes: null,
      minimum_requests: null,
      last_activity_at: null,
    });
  });

  test("ends when a person turns the suspension off", async () => {
    await call("patch", PATH, { suspended: false });
    const annotations = { [WAKE_ANNOTATION]: service.clock.now().toISOString() };
    expect((await found()).metadata.annotations).toMatchObject(annotations);
  });

  test.each([
    [{ schedule: { ...schedule, time_zone: "Mars/Olympus" } }, /sleep.schedule.time_zone: must be an IANA time zone/],
    [{ schedule: { ...schedule, awake: ["always"] } }, /sleep.schedule.awake.0: must be days and hours/],
    [{ schedule: { ...schedule, awake: [] } }, /sleep.schedule.awake/],
    [{ after_idle_minutes: 9 }, /sleep.after_idle_minutes: must be >= 10/],
    [{ minimum_requests: 5 }, /sleep.minimum_requests: counts only beside after_idle_minutes/],
    [{ idle: 10 }, /sleep.idle: is not a known field/],
  ])("stays as it is when %j is sent", async (sleep, words) => {
    expectProblem(await call("patch", PATH, { sleep }), 400, words, "ENV_CONFIG_INVALID");
    expect((await found()).metadata.generation).toBe(1);
  });
});

describe("a protection", () => {
  const hoursAfter = (expiry: string, hours: number) => new Date(Date.parse(expiry) + hours * 3_600_000).toISOString();

  test("by a developer ends 168 hours after the expiry, and says so", async () => {
    const { expires_at: expiry } = (await call("get", PATH)).body.data;
    const until = hoursAfter(expiry, 168);
    const reply = await call("patch", PATH, { protected: true });
    expectPromised(reply, "patch", "/api/v2/environments/{environment_id}");
    expect(reply.body.data).toMatchObject({ protected: true, protected_until: until });
    expect((await found()).spec).toMatchObject({ protectedUntil: until });
    expect((await found()).spec).not.toHaveProperty("protected");
    const listed = (await call("get", "/api/v2/environments")).body.data.environments;
    expect(listed).toMatchObject([{ protected: true, protected_until: until }]);
  });

  test("by a maintainer has no end, also where a developer has set one", async () => {
    await call("patch", PATH, { protected: true });
    const reply = await call("patch", PATH, { protected: true }, "maintainer");
    expect(reply.body.data).toMatchObject({ protected: true, protected_until: null });
    expect((await found()).spec).not.toHaveProperty("protectedUntil");
  });

  test("by a maintainer is not shortened by a developer who protects, too", async () => {
    await call("patch", PATH, { protected: true }, "maintainer");
    const reply = await call("patch", PATH, { protected: true });
    expect(reply.body.data).toMatchObject({ protected: true, protected_until: null });
    expect((await found()).spec).not.toHaveProperty("protectedUntil");
  });

  test("by a maintainer is not taken back by a developer", async () => {
    await call("patch", PATH, { protected: true }, "maintainer");
    expectProblem(await call("patch", PATH, { protected: false, suspended: true }), 403, /ask a maintainer/);
    expect((await found()).spec).toMatchObject({ protected: true });
    expect((await found()).spec).not.toHaveProperty("suspended");
    expect((await call("patch", PATH, { protected: false }, "maintainer")).body.data).toMatchObject({
      protected: false,
    });
  });

  test("by a developer refuses the deletion, too", async () => {
    await call("patch", PATH, { protected: true });
    expectProblem(await call("delete", PATH), 409, /protected/);
  });

  test("longer than a developer's is not shortened by one who protects, too", async () => {
    const made = await found();
    const protectedUntil = "2030-01-01T00:00:00Z";
    service.environments.put({ ...made, spec: { ...made.spec, protectedUntil } });
    const reply = await call("patch", PATH, { protected: true });
    expect(reply.body.data).toMatchObject({ protected_until: "2030-01-01T00:00:00.000Z" });
  });

  test("loses its end when it is removed", async () => {
    await call("patch", PATH, { protected: true });
    const reply = await call("patch", PATH, { protected: false });
    expect(reply.body.data).toMatchObject({ protected: false, protected_until: null });
    expect((await found()).spec).not.toHaveProperty("protectedUntil");
  });

  test("abuse case 125: is not prolonged by asking again, and is refused once it would have ended", async () => {
    const { expires_at: expiry } = (await call("get", PATH)).body.data;
    await call("patch", PATH, { protected: true });
    service.clock.advance(24 * 3_600_000);
    const again = await call("patch", PATH, { protected: true });
    expect(again.body.data).toMatchObject({ protected_until: hoursAfter(expiry, 168) });
    await call("patch", PATH, { protected: false });
    service.clock.advance(168 * 3_600_000);
    expectProblem(await call("patch", PATH, { protected: true }), 409, /168 hours after the expiry/);
    expect((await call("patch", PATH, { protected: true }, "maintainer")).status).toBe(200);
  });
});
