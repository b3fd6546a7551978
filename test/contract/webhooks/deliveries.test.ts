import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { aRepository } from "../../support/doubles/memory/repositories.ts";
import { until } from "../../support/fixtures/until.ts";
import {
  HEAD_COMMIT,
  pullRequestBody,
  signedHeaders,
  webhookDeliveryFixture,
} from "../../support/fixtures/webhooks/webhook-fixture.ts";
import { expectProblem } from "../../support/http/api-promises.ts";
import { type ApiService, type Person, startApiService } from "../../support/http/api-service.ts";

let service: ApiService;
beforeEach(async () => {
  const pullRequest = { enabled: true, forks: "approve" } as const;
  service = await startApiService({
    repositories: [
      aRepository("shop-api", { pullRequest, access: { groups: ["shop"] } }),
      aRepository("billing-api", { access: { groups: ["billing"] } }),
    ],
  });
});
afterEach(() => service.stop());

const as = async (person: Person) => ({ authorization: await service.bearer(person) });
const get = async (path: string, person: Person = "developer") =>
  service.http.get(`/api/v2/${path}`).set(await as(person));
const post = async (path: string, body: object, person: Person = "developer") =>
  service.http
    .post(`/api/v2/${path}`)
    .set(await as(person))
    .send(body);
const ids = ({ body }: { readonly body: { data: { items: { id: string }[] } } }) => body.data.items.map(({ id }) => id);

async function pull(more: Partial<Parameters<typeof pullRequestBody>[0]> = {}) {
  const text = JSON.stringify(pullRequestBody({ repository: "shop/shop-api", ...more }));
  const reply = await service.http.post("/api/webhooks/repohost").set(signedHeaders(text)).send(text);
  await until(() => service.webhookDeliveries.pending().length === 0, { what: "all outcomes stored" });
  return reply;
}
const fork = { more: { head: { ref: "patch-1", sha: HEAD_COMMIT, repo: null } } };

describe("deliveries", () => {
  beforeEach(() => {
    const put = (name: string, second: number, spec: object = {}, status?: "pending") =>
      service.webhookDeliveries.put({
        ...webhookDeliveryFixture(name, { receivedAt: `2026-06-01T12:00:0${second}.000Z`, ...spec }),
        ...(status === undefined ? {} : { status: { phase: status, reason: "Stored", message: "" } }),
      });
    put("shop-old", 1, { repositories: ["shop-api"] });
    put("shop-new", 2, { repositories: ["shop-api"], event: { type: "ping" } }, "pending");
    put("both", 3, { repositories: ["shop-api", "billing-api"] });
    put("billing", 4, { repositories: ["billing-api"], source: "pipelinehost" });
    put("gone", 5, { repositories: ["gone-api"] });
    put("unverified", 6, { verified: false, source: "generic", message: "hello" });
  });

  test.each([
    ["developer", ["shop-new", "shop-old"]],
    ["stranger", ["billing"]],
    ["maintainer", ["unverified", "gone", "billing", "both", "shop-new", "shop-old"]],
  ] as const)("are listed to a %s by their repositories, the newest first", async (person, seen) => {
    expect(ids(await get("webhooks/deliveries", person))).toEqual(seen);
  });

  test.each([
    ["repository=billing-api", ["billing", "both"]],
    ["status=pending", ["shop-new"]],
    ["source=generic", ["unverified"]],
    ["event=ping", ["shop-new"]],
    ["limit=1&offset=1", ["gone"]],
  ])("are filtered by %s", async (query, seen) => {
    expect(ids(await get(`webhooks/deliveries?${query}`, "maintainer"))).toEqual(seen);
  });

  test("of others are not found", async () => {
    for (const id of ["billing", "both", "gone", "unverified", "none"]) {
      expectProblem(await get(`webhooks/deliveries/${id}`), 404, "Delivery not found");
    }
  });

  test("without a signature are never acted on", async () => {
    expectProblem(await post("webhooks/deliveries/unverified/redeliver", {}, "maintainer"), 409);
  });
});

test("a delivery is shown with what each rule said, in version 2 alone", async () => {
  await pull();
  const [id = ""] = ids(await get("webhooks/deliveries"));
  const { body } = await get(`webhooks/deliveries/${id}`);
  expect(body.data).toMatchObject({
    id,
    action: "opened",
    number: 42,
    commit: HEAD_COMMIT,
    status: "acted",
    environments: [{ name: "shop-api-pr-42", action: "created" }],
  });
  expect(body.data.trace).toContainEqual(expect.objectContaining({ passed: true }));
  expectProblem(await service.http.get(`/api/webhooks/deliveries/${id}`).set(await as("developer")), 404);
});

test("deliveries name no environment that the caller may not see, and no sentence has a name", async () => {
  await pull();
  const environment = await service.environments.find("shop-api-pr-42");
  const [id = ""] = ids(await get("webhooks/deliveries"));
  const shown = async (person: Person) => {
    const list = await get("webhooks/deliveries", person);
    const one = await get(`webhooks/deliveries/${id}`, person);
    return [list.body.data.items[0], one.body.data];
  };
  const [named, full] = await shown("developer");
  for (const report of [named, full]) {
    expect(report).toMatchObject({ message: "the environment is created", environments: [{ name: "shop-api-pr-42" }] });
  }
  // The groups have changed since, as by an administrator.
  const { metadata, spec } = environment as NonNullable<typeof environment>;
  service.environments.put({ metadata, spec: { ...spec, access: { groups: ["other"] } } } as never);
  for (const report of await shown("developer")) {
    expect(report).toMatchObject({ id, status: "acted", environments: [] });
    expect(JSON.stringify(report)).not.toContain("shop-api-pr-42");
  }
  for (const report of await shown("maintainer")) {
    expect(report).toMatchObject({ environments: [{ name: "shop-api-pr-42" }] });
  }
});

test("a maintainer has a delivery acted on again, by the state of now", async () => {
  service.repositories.put(aRepository("shop-api", { pullRequest: { enabled: false } }));
  await pull();
  const [id = ""] = ids(await get("webhooks/deliveries"));
  service.repositories.put(aRepository("shop-api", { pullRequest: { enabled: true } }));
  const { body } = await post(`webhooks/deliveries/${id}/redeliver`, {}, "maintainer");
  expect(body.data).toMatchObject({ delivery: id, outcome: "acted", environments: [{ name: "shop-api-pr-42" }] });
  await until(() => service.webhookDeliveries.find(id)?.status?.phase === "acted", { what: "its outcome stored" });
});

describe("a simulation", () => {
  const simulate = (more = {}, person: Person = "developer") => {
    const payload = pullRequestBody({ repository: "shop/shop-api", ...more });
    return post("webhooks/simulate", { repository: "shop-api", event: "pull_request", payload }, person);
  };

  test("shows the decision, stores nothing, does nothing and calls no host", async () => {
    const { body } = await simulate();
    expect(body.data).toMatchObject({
      event: "pull_request",
      decisions: [{ do: "create", environment: "shop-api-pr-42" }],
    });
    expect(body.data.trace.length).toBeGreaterThan(0);
    expect([service.environments.list(), service.webhookDeliveries.list()]).toEqual([[], []]);
    expect(service.branchHeads.requested).toEqual([]);
  });

  test("names no environment that the caller may not see", async () => {
    const owner = { subject: "other", email: "", name: "" };
    const backend = { repository: "shop-api", branch: "main" };
    await service.environments.create("shop-api-pr-42", { backend, owner });
    const hidden = await simulate();
    expect(JSON.stringify(hidden.body)).not.toContain("shop-api-pr-42");
    expect(JSON.stringify((await simulate({}, "maintainer")).body)).toContain("shop-api-pr-42");
  });

  test("of another's repository is not found", async () => {
    expectProblem(await simulate({}, "stranger"), 404, "Repository not found", "ENV_REPO_NOT_FOUND");
  });
});

describe("the approval of a fork's commit", () => {
  const approve = (commit: string, person: Person = "maintainer") =>
    post("repos/shop-api/pull-requests/42/approval", { commit }, person);

  test("makes the environment of exactly this commit, and is recorded", async () => {
    expect((await pull(fork)).body).toMatchObject({ environment_created: false });
    expect((await approve("b".repeat(40))).body.data).toMatchObject({ environments: [] });
    const { body } = await approve(HEAD_COMMIT);
    expect(body.data).toMatchObject({
      outcome: "acted",
      environments: [{ name: "shop-api-pr-42", action: "created" }],
    });
    expect(service.audit.records).toContainEqual(
      expect.objectContaining({ action: "approveCommit", target: `shop-api#42@${HEAD_COMMIT}`, outcome: "accepted" }),
    );
  });

  test("is a maintainer's", async () => {
    expectProblem(await approve(HEAD_COMMIT, "developer"), 403);
  });

  test.each(["", "abc", "B".repeat(40)])("needs a whole commit, not '%s'", async (commit) => {
    expectProblem(await approve(commit), 400, undefined, "ENV_CONFIG_INVALID");
  });
});

test("the test of pipelines names what they need, and the last one that the caller may see", async () => {
  service.webhookDeliveries.put(webhookDeliveryFixture("one", { source: "pipelinehost", repositories: ["shop-api"] }));
  const at = async (person: Person) =>
    (await service.http.get("/api/webhooks/pipelinehost/test").set(await as(person))).body;
  expect(await at("developer")).toMatchObject({
    status: "ok",
    configured: true,
    endpoint: "https://environments.example.test/platform/api/webhooks/pipelinehost/pipeline",
    last_received_at: "2026-06-01T12:00:00.000Z",
  });
  expect(await at("stranger")).toMatchObject({ last_received_at: null });
});
