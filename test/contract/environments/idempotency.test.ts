import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { HOUR_MS } from "../../../crds/durations.ts";
import { creationMark } from "../../../crds/environment/idempotency-record.ts";
import { aRepository } from "../../support/doubles/memory/repositories.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, type Person, startApiService } from "../../support/http/api-service.ts";

const PATH = "/api/environments";
const KEY = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const SECRETS_READY = {
  type: "SecretsReady",
  status: "True",
  reason: "Mirrored",
  message: "",
  lastTransitionTime: "2026-06-01T12:00:00Z",
} as const;

let service: ApiService;
beforeEach(async () => {
  const listed = { secrets: [{ name: "STRIPE_KEY", kind: "key" as const }], access: { groups: ["shop"] } };
  service = await startApiService({
    repositories: [aRepository("shop-api", listed), aRepository("open-api")],
  });
});
afterEach(() => service.stop());

const minimal = { environment_name: "feature-test", backend_repo: "shop-api", backend_branch: "main" };

interface Requested {
  readonly key?: string;
  readonly as?: Person;
  readonly body?: object;
  readonly path?: string;
}

async function create({ key = KEY, as = "developer", body = minimal, path = PATH }: Requested = {}) {
  const headers = { authorization: await service.bearer(as), "idempotency-key": key };
  return service.http.post(path).set(headers).send(body);
}
async function made() {
  const environment = await service.environments.find("feature-test");
  if (environment === undefined) throw new Error("not made");
  return environment;
}
const withValue = (value: string) => ({
  ...minimal,
  config_overrides: { helm_values: { backend: { env: { STRIPE_KEY: value } } } },
});

describe("a creation with an Idempotency-Key", () => {
  test("is answered with its environment when it is repeated, in any version and order of fields", async () => {
    const first = await create();
    expectPromised(first, "post", PATH);
    const again = await create({ body: Object.fromEntries(Object.entries(minimal).reverse()) });
    expectPromised(again, "post", PATH);
    expect(again.body).toEqual(first.body);
    const wrapped = await create({ path: "/api/v2/environments" });
    expect(wrapped.body.data).toEqual({ environment: { ...first.body.environment, cost: expect.anything() } });
    expect(service.environments.list()).toHaveLength(1);
  });

  test("is answered with the environment as it is now, also after changes", async () => {
    const { id } = (await create()).body.environment;
    service.environments.put({ ...(await made()), status: { phase: "ready" } });
    expect((await create()).body.environment).toMatchObject({ id, status: "ready" });
    await service.environments.remove(await made());
    expect((await create()).body.environment).toMatchObject({ id, status: "terminating" });
  });

  test("makes one environment of many at the same moment", async () => {
    const replies = await Promise.all(Array.from({ length: 10 }, () => create()));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(replies.map(({ body }) => body.environment.id)).size).toBe(1);
  });

  test("makes another one when the first is gone", async () => {
    const { id } = (await create()).body.environment;
    await service.environments.remove(await made());
    service.environments.finishRemoval("feature-test");
    const next = await create();
    expect(next.status).toBe(200);
    expect(next.body.environment.id).not.toBe(id);
  });

  test("is remembered for 24 hours, and taken for a new one then", async () => {
    await create();
    service.clock.advance(24 * HOUR_MS - 1_000);
    expect((await create()).status).toBe(200);
    service.clock.advance(1_000);
    expectProblem(await create(), 400, "Environment name already exists", "ENV_NAME_EXISTS");
    expect((await create({ body: { ...minimal, environment_name: "another" } })).status).toBe(200);
  });

  test.each([
    ["another name", { ...minimal, environment_name: "another" }],
    ["another branch", { ...minimal, backend_branch: "other" }],
    ["a field more", { ...minimal, ttl: 24 }],
    ["a variable more", withValue("sk_test_1")],
  ])("is refused when the key is used again with %s", async (_what, body) => {
    await create();
    const reply = await create({ body });
    expectProblem(reply, 409, /Idempotency-Key: another request with this key made the environment 'feature-test'/);
    expectPromised(reply, "post", PATH);
    expect(service.environments.list()).toHaveLength(1);
  });

  test("is another key for another caller, who learns nothing of it", async () => {
    await create();
    const body = { ...minimal, environment_name: "another", backend_repo: "open-api" };
    expect((await create({ as: "stranger", body })).body.environment.name).toBe("another");
    const taken = await create({ as: "colleague" });
    expectProblem(taken, 400, "Environment name already exists", "ENV_NAME_EXISTS");
  });

  test("that was refused may be corrected", async () => {
    expectProblem(await create({ body: { ...minimal, ttl: 0 } }), 400, undefined, "ENV_CONFIG_INVALID");
    expect((await create()).status).toBe(200);
  });

  test.each([
    ["empty", ""],
    ["too long", "k".repeat(129)],
    ["of more than one word", "a b"],
    ["not ASCII", "schl\u00fcssel"],
    ["there twice", "one, two"],
  ])("is refused when the key is %s", async (_what, key) => {
    const reply = await create({ key });
    expectProblem(reply, 400, "Idempotency-Key: must be 1 to 128 visible ASCII characters, given once");
    expect(service.environments.list()).toHaveLength(0);
  });

  test("takes every visible character, and keeps none of the key", async () => {
    const key = `"${String.fromCharCode(...Array.from({ length: 94 }, (_, index) => 33 + index))}"`;
    expect((await create({ key })).status).toBe(200);
    const environment = await made();
    expect(creationMark(environment)).toBeDefined();
    expect(JSON.stringify(environment)).not.toContain(key.slice(2, 40));
    expect(JSON.stringify(service.log)).not.toContain(key.slice(2, 40));
  });

  test("writes the values that a former attempt could not write, and keeps its environment", async () => {
    service.secretManager.setReachable(false);
    const refused = await create({ body: withValue("sk_test_1") });
    expectProblem(refused, 503, /secret manager/, "ENV_CREATION_FAILED");
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    service.secretManager.setReachable(true);
    const reply = await create({ body: withValue("sk_test_1") });
    expect(reply.status).toBe(200);
    expect(await service.secretManager.holdsAny((await made()).metadata, ["STRIPE_KEY"])).toBe(true);
  });

  test("writes the values that a former attempt could not write, also when its Repository has changed or is gone", async () => {
    service.secretManager.setReachable(false);
    await create({ body: withValue("sk_test_1") });
    service.secretManager.setReachable(true);
    service.repositories.drop("shop-api");
    expect((await create({ body: withValue("sk_test_1") })).status).toBe(200);
    expect(await service.secretManager.holdsAny((await made()).metadata, ["STRIPE_KEY"])).toBe(true);
  });

  test("needs no secret manager once the operator has found the values", async () => {
    const { id } = (await create({ body: withValue("sk_test_1") })).body.environment;
    service.environments.put({ ...(await made()), status: { conditions: [SECRETS_READY] } });
    service.secretManager.setReachable(false);
    const again = await create({ body: withValue("sk_test_1") });
    expect(again.status).toBe(200);
    expect(again.body.environment.id).toBe(id);
  });

  test("is refused when it comes again with an empty value that was never written", async () => {
    service.secretManager.setReachable(false);
    await create({ body: withValue("sk_test_1") });
    service.secretManager.setReachable(true);
    expectProblem(await create({ body: withValue("") }), 400, /must give STRIPE_KEY/, "ENV_CONFIG_INVALID");
  });

  test("writes no values for an environment that is being deleted", async () => {
    service.secretManager.setReachable(false);
    await create({ body: withValue("sk_test_1") });
    service.secretManager.setReachable(true);
    await service.environments.remove(await made());
    expect((await create({ body: withValue("sk_test_1") })).body.environment.status).toBe("terminating");
    expect(await service.secretManager.holdsAny((await made()).metadata, ["STRIPE_KEY"])).toBe(false);
  });
});
