import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { PullRequestHostFailed } from "../../../operator/ports/webhooks/pull-request-host.ts";
import { aRepository } from "../../support/doubles/memory/repositories.ts";
import { WEBHOOK_KEY, webhookDeliveryFixture } from "../../support/fixtures/webhooks/webhook-fixture.ts";
import { expectProblem } from "../../support/http/api-promises.ts";
import { type ApiService, type Person, type ServiceOptions, startApiService } from "../../support/http/api-service.ts";
import { hookSettings } from "../../support/http/memory-webhooks.ts";

const ADDRESS = "https://environments.example.test/platform/api/webhooks/repohost";
const REPAIR = "POST /api/v2/repos/shop-api/webhook";

let service: ApiService | undefined;
afterEach(async () => {
  await service?.stop();
  service = undefined;
});

async function started(options: ServiceOptions = {}): Promise<ApiService> {
  const repositories = [
    aRepository("shop-api", { host: "git", access: { groups: ["shop"] } }),
    aRepository("open-api", { access: { groups: ["shop"] } }),
  ];
  service = await startApiService({ repositories, ...options });
  return service;
}

async function call(method: "get" | "post", person: Person = "maintainer", id = "shop-api") {
  if (service === undefined) throw new Error("no service is started");
  const request = service.http[method](`/api/v2/repos/${id}/webhook`);
  return request.set("authorization", await service.bearer(person));
}

const hook = (more = {}) => ({
  id: "7",
  url: ADDRESS,
  events: ["push"],
  state: "active" as const,
  faults: [],
  ...more,
});
const problems = async () => (await call("get", "developer")).body.data.problems;

describe("the webhook of a repository", () => {
  let hooks: ApiService["repositoryHooks"];
  beforeEach(async () => {
    hooks = (await started()).repositoryHooks;
  });

  test("is shown with its last delivery on either side, without problems", async () => {
    hooks.all.push(hook());
    hooks.delivered({ at: "2026-06-01T11:00:00.000Z", answer: "200 OK", isAccepted: true, isUnauthentic: false });
    for (const [name, hour] of [
      ["older", "09"],
      ["newest", "11"],
      ["former", "10"],
    ] as const) {
      const receivedAt = `2026-06-01T${hour}:00:00.000Z`;
      service?.webhookDeliveries.put(webhookDeliveryFixture(name, { repositories: ["shop-api"], receivedAt }));
    }
    expect((await call("get", "developer")).body.data).toEqual({
      repository: "shop-api",
      host: { id: "git", kind: "gitea" },
      address: ADDRESS,
      hooks: [
        {
          id: "7",
          address: ADDRESS,
          here: true,
          state: "active",
          events: ["push"],
          last_delivery: { at: "2026-06-01T11:00:00.000Z", answer: "200 OK", accepted: true },
        },
      ],
      last_received: { id: "newest", event_name: "push", received_at: "2026-06-01T11:00:00.000Z" },
      problems: [],
    });
  });

  test("is missing where only other addresses have one, of which none of another service is shown", async () => {
    hooks.all.push(hook({ url: "https://user:pass@old.example.test/api/webhooks/repohost?of-a-user" }));
    hooks.all.push(hook({ id: "8", url: "https://chat.example.test/services/a-credential" }));
    const { body } = await call("get");
    expect(body.data.hooks).toMatchObject([
      { id: "7", here: false, address: "https://old.example.test/api/webhooks/repohost" },
    ]);
    expect(body.data.problems).toMatchObject([
      { reason: "HookMissing", next_step: expect.stringContaining(`${REPAIR} registers it`) },
    ]);
    expect(JSON.stringify(body)).not.toMatch(/pass|of-a-user|a-credential/);
  });

  test.each([
    ["HookInactive", { state: "inactive" as const }, REPAIR],
    ["HookPaused", { state: "paused" as const }, "The platform has the host try again"],
    ["EventsMissing", { faults: [{ reason: "EventsMissing", message: "it does not send push" }] }, REPAIR],
  ])("has the problem %s, with the next step", async (reason, more, next) => {
    hooks.all.push(hook(more));
    expect(await problems()).toEqual([
      { reason, message: expect.stringContaining("hook 7"), next_step: expect.stringContaining(next) },
    ]);
  });

  test.each([
    ["HookUnauthentic", "401 Unauthorized", true],
    ["HookUnreachable", "502 failed to connect to host", false],
  ])("has the problem %s when its last delivery was answered '%s'", async (reason, answer, isUnauthentic) => {
    hooks.all.push(hook());
    hooks.delivered({ answer, isAccepted: false, isUnauthentic });
    expect(await problems()).toMatchObject([{ reason, message: expect.stringContaining(answer) }]);
  });

  test("is not judged by a delivery before its last change", async () => {
    hooks.all.push(hook({ changedAt: "2026-06-01T11:00:00Z" }));
    const at = "2026-06-01T10:59:59.999Z";
    hooks.delivered({ at, answer: "401 Unauthorized", isAccepted: false, isUnauthentic: true });
    expect(await problems()).toEqual([]);
  });

  test("is asked of the host once in a while, however many callers ask", async () => {
    for (const person of ["developer", "colleague", "maintainer"] as const) await call("get", person);
    expect(hooks.requested).toBe(1);
  });

  test.each([
    [404, "HostRefused", "the scope write:repository", undefined],
    [422, "HostRefused", "Correct what the host says", undefined],
    [502, "HostUnavailable", "Try again when the cause is gone", undefined],
    [403, "HostUnavailable", "Try again when the cause is gone", 1_000],
  ])("has a problem when the host answers %d: %s", async (status, reason, next, retryAfterMs) => {
    hooks.fail(new PullRequestHostFailed("hooks of host 'git' failed", { status, retryAfterMs }));
    expect(await problems()).toMatchObject([{ reason, next_step: expect.stringContaining(next) }]);
  });

  test("is for those who may read the repository", async () => {
    for (const id of ["shop-api", "none"]) {
      expectProblem(await call("get", "stranger", id), 404, "Repository not found", "ENV_REPO_NOT_FOUND");
    }
    expect((await call("get", "viewer")).status).toBe(200);
  });
});

describe("the repair of a webhook", () => {
  test("leaves one hook with the key, has the repository checked, and is recorded", async () => {
    const { repositoryHooks: hooks, repositoryReloads, audit } = await started();
    hooks.all.push(hook({ state: "inactive" }), hook({ id: "8" }));
    await problems();
    const first = await call("post");
    expect(first.body.data).toMatchObject({ hooks: [{ here: true, state: "active" }], problems: [] });
    expect((await call("post")).body.data).toMatchObject({ hooks: [{ here: true }], problems: [] });
    expect(hooks.desired?.address).toBe(ADDRESS);
    expect(hooks.desired?.key.reveal()).toBe(WEBHOOK_KEY);
    expect(JSON.stringify(first.body)).not.toContain(WEBHOOK_KEY);
    expect(repositoryReloads.requested).toEqual(["shop-api", "shop-api"]);
    expect(audit.records).toContainEqual(
      expect.objectContaining({ action: "repairHook", target: "shop-api", outcome: "accepted" }),
    );
  });

  test("signs with the repository's own key", async () => {
    const webhookSecretRef = { name: "own-key", key: "latest" };
    const own = aRepository("shop-api", { host: "git", webhookSecretRef });
    const { secretManager, repositoryHooks } = await started({ repositories: [own] });
    expectProblem(await call("post"), 409, /'own-key@latest' does not exist/);
    secretManager.share({ id: "own-key", labels: {}, values: ["short"] });
    expectProblem(await call("post"), 409, /has fewer than 32 bytes/);
    secretManager.share({ id: "own-key", labels: {}, values: ["o".repeat(32)] });
    expect((await call("post")).status).toBe(200);
    expect(repositoryHooks.desired?.key.reveal()).toBe("o".repeat(32));
  });

  test.each([
    ["no public address", { publicUrl: undefined }, "Set publicUrl in the settings."],
    ["no such host", { hosts: [] }, "Add it to hosts in the settings, or correct spec.host."],
    [
      "no token",
      { hosts: [{ ...hookSettings.hosts[0], token: undefined }] },
      "Set token of host 'git' in the settings",
    ],
    ["no key", { webhooks: {} }, "Set spec.webhookSecretRef of the Repository, or webhooks.secrets in the settings."],
  ])("is refused with %s, and the check has the same next step", async (_what, settings, next) => {
    await started({ settings });
    const refused = await call("post");
    expectProblem(refused, 409);
    expect(refused.body.detail).toContain(next);
    expect(await problems()).toContainEqual(expect.objectContaining({ next_step: expect.stringContaining(next) }));
  });

  test("is refused for a repository without a host", async () => {
    await started();
    expectProblem(await call("post", "maintainer", "open-api"), 409, /Set spec\.host/);
  });

  test.each([
    [{ status: 403 }, 409, "Give the token of host 'git' the scope write:repository", undefined],
    [{ status: 422 }, 409, "no answer", undefined],
    [{}, 503, "no answer", "10"],
    [{ status: 429, retryAfterMs: 30_000 }, 503, "no answer", "30"],
  ])("of a host that answers %j is answered %d", async (failure, answered, detail, retryAfter) => {
    const { repositoryHooks } = await started();
    repositoryHooks.fail(new PullRequestHostFailed("no answer", failure));
    const reply = await call("post");
    expectProblem(reply, answered);
    expect(reply.body.detail).toContain(detail);
    expect(reply.headers["retry-after"]).toBe(retryAfter);
  });

  test("waits for the secret manager", async () => {
    const { secretManager } = await started();
    secretManager.setReachable(false);
    expectProblem(await call("post"), 503, /secret manager/);
    expect(await problems()).toContainEqual(expect.objectContaining({ reason: "KeyUnreadable" }));
  });

  test("is a maintainer's", async () => {
    const { repositoryHooks } = await started();
    expectProblem(await call("post", "developer"), 403);
    expect(repositoryHooks.desired).toBeUndefined();
  });
});
