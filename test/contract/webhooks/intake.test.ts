import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { pullRequestBody, signedHeaders, WEBHOOK_KEY } from "../../support/fixtures/webhooks/webhook-fixture.ts";
import { expectProblem } from "../../support/http/api-promises.ts";
import { webhookKeySettings } from "../../support/http/memory-webhooks.ts";
import { OTHER_KEY, OWN_KEY, PATH, webhookEndpoints } from "./webhook-endpoints.ts";

const endpoints = webhookEndpoints();
const { start, post, pull, names, delivered, settled } = endpoints;

describe("the route of repository hosts", () => {
  test("makes an environment of a pull request, once, and says so again when it is asked again", async () => {
    const first = await pull({}, { delivery: "one" });
    expect(first.body).toMatchObject({ status: "processed", environment_created: true });
    expect(names()).toEqual(["shop-api-pr-42"]);
    const [environment] = endpoints.service.environments.list();
    expect(first.body.environment_id).toBe(environment?.metadata.uid);
    expect(environment?.spec).toMatchObject({
      backend: { repository: "shop-api", branch: "feature/checkout" },
      trigger: { kind: "pull_request", repository: "shop-api", number: 42, login: "dev" },
      access: { groups: ["shop"] },
    });
    await settled();
    const again = await pull({}, { delivery: "one" });
    expect(again.body).toMatchObject({ environment_created: true, environment_id: environment?.metadata.uid });
    expect(delivered()).toHaveLength(1);
    expect(delivered()[0]?.status).toMatchObject({ phase: "acted", environments: [{ name: "shop-api-pr-42" }] });
    expect(endpoints.service.audit.records).toMatchObject([
      { event: "change", action: "webhook create", actor: { method: "webhook", login: "dev" }, outcome: "accepted" },
    ]);
  });

  test("follows its commits, and deletes it when it is closed", async () => {
    await pull();
    const commit = "a".repeat(40);
    const moved = await pull({ action: "synchronize", commit, updatedAt: "2026-06-01T11:59:10Z" });
    expect(moved.body).toMatchObject({ environment_created: false });
    expect(endpoints.service.environments.list()[0]?.spec.backend.commit).toBe(commit);
    await pull({ action: "closed", commit, updatedAt: "2026-06-01T11:59:20Z" });
    expect(endpoints.service.environments.list()[0]?.metadata.deletionTimestamp).toBeDefined();
  });

  test("answers a ping with pong", async () => {
    const text = JSON.stringify({ zen: "Keep it logically awesome." });
    expect((await post(text, signedHeaders(text, { event: "ping" }))).body).toMatchObject({ status: "pong" });
    expect(delivered()).toEqual([]);
  });

  // Abuse case 68.
  test.each([
    ["no signature", { "x-hub-signature-256": "" }],
    ["a short one", { "x-hub-signature-256": "sha256=00" }],
    ["one of SHA-1", { "x-hub-signature-256": `sha1=${"0".repeat(40)}` }],
    ["another's", { "x-hub-signature-256": `sha256=${"0".repeat(64)}` }],
  ])("refuses %s", async (_case, header) => {
    const text = JSON.stringify(pullRequestBody({ repository: "shop/shop-api" }));
    expectProblem(await post(text, { ...signedHeaders(text), ...header }), 401);
    expect([names(), delivered()]).toEqual([[], []]);
    expect(endpoints.service.audit.records).toMatchObject([{ event: "credential", outcome: "refused", status: 401 }]);
  });

  // Abuse case 69.
  test("refuses the signature of the same JSON in other bytes", async () => {
    const body = pullRequestBody({ repository: "shop/shop-api" });
    expectProblem(await post(JSON.stringify(body, null, 1), signedHeaders(JSON.stringify(body))), 401);
    expect(delivered()).toEqual([]);
  });

  // Abuse case 70.
  test("ignores another event under an id that was used, and raises an alert", async () => {
    await pull({}, { delivery: "one" });
    const other = await pull({ action: "closed", updatedAt: "2026-06-01T11:59:20Z" }, { delivery: "one" });
    expect(other.status).toBe(200);
    expect(other.body).toMatchObject({ message: expect.stringContaining("IdReused"), environment_id: "" });
    expect(endpoints.service.environments.list()[0]?.metadata.deletionTimestamp).toBeUndefined();
    expect(endpoints.service.log).toContainEqual(expect.objectContaining({ level: "error" }));
    expect(endpoints.service.audit.records.at(-1)).toMatchObject({ event: "denial", outcome: "refused" });
  });

  test("takes the bodies of an app's and of a repository's hook, which have one id, as one delivery", async () => {
    const first = await pull({}, { delivery: "one" });
    const second = await pull({ more: { of_an_app: true } }, { delivery: "one" });
    const { environment_id } = first.body;
    expect(second.body).toMatchObject({ environment_created: true, environment_id });
    expect([names(), delivered().length]).toEqual([["shop-api-pr-42"], 1]);
    expect(endpoints.service.log).not.toContainEqual(expect.objectContaining({ level: "error" }));
    expect(endpoints.service.audit.records).not.toContainEqual(expect.objectContaining({ event: "denial" }));
  });

  // Abuse case 71.
  test("refuses the key of one repository for another", async () => {
    expectProblem(await pull({}, { key: OWN_KEY }), 401);
    expectProblem(await pull({ repository: "shop/own-api" }, { key: WEBHOOK_KEY }), 401);
    expect((await pull({ repository: "shop/own-api" }, { key: OWN_KEY })).status).toBe(200);
    expect(names()).toEqual(["own-api-pr-42"]);
  });

  test("refuses an unknown repository like a wrong signature", async () => {
    const [unknown, wrong] = [await pull({ repository: "shop/unknown" }), await pull({}, { key: OTHER_KEY })];
    expect(unknown.body.detail).toBe(wrong.body.detail);
    expect([unknown.status, wrong.status]).toEqual([401, 401]);
  });

  // Abuse case 73.
  test("ignores an event whose body is of another type", async () => {
    const reply = await pull({}, { event: "push" });
    expect(reply.body).toMatchObject({ status: "processed", environment_created: false, environment_id: "" });
    expect([names(), delivered()]).toEqual([[], []]);
  });

  test("ignores the payload of another kind of host, and verifies by the host's own", async () => {
    const github = { "x-repohost-event": "", "x-github-event": "pull_request", "x-github-delivery": "one" };
    const text = JSON.stringify(pullRequestBody({ repository: "shop/shop-api" }));
    expect((await post(text, { ...signedHeaders(text), ...github })).body).toMatchObject({
      environment_created: false,
    });
    const lab = JSON.stringify({ project: { id: 7, path_with_namespace: "shop/lab-api" } });
    expectProblem(await post(lab, signedHeaders(lab)), 401);
    expect(names()).toEqual([]);
  });

  test.each([
    ["broken JSON", '{"action":', 400],
    ["no object", "[1]", 400],
    ["nothing", "", 400],
    ["too deep JSON", `{"a":${"[".repeat(33)}${"]".repeat(33)}}`, 400],
    ["more than 1 MiB in fields that are read", `{"ref":"${"x".repeat(1_048_576)}"}`, 413],
  ])("refuses %s", async (_case, text, status) => {
    expectProblem(await post(text, signedHeaders(text)), status);
  });

  test("takes a form for no JSON", async () => {
    expectProblem(
      await post("payload=x", { ...signedHeaders("payload=x"), "content-type": "application/x-www-form-urlencoded" }),
      415,
    );
  });

  test("takes a body of 1 MiB", async () => {
    const more = { body: "x".repeat(1_000_000) };
    expect((await pull({ more })).body).toMatchObject({ environment_created: true });
  });

  test.each([
    ["no key", {}],
    ["a key of 31 bytes", { secrets: [{ name: "short", key: "latest" }] }],
    ["a key that the secret manager lacks", { secrets: [{ name: "absent", key: "latest" }] }],
  ])("answers 503 where there is %s", async (_case, webhooks) => {
    await start({ settings: { webhooks } });
    endpoints.service.secretManager.share({ id: "short", labels: {}, values: ["x".repeat(31)] });
    const reply = await pull({}, { key: "x".repeat(31) });
    expectProblem(reply, 503, /No key/);
    expect(reply.headers["retry-after"]).toBeDefined();
  });

  test("answers 503 while the secret manager is away, and stores nothing", async () => {
    endpoints.service.secretManager.setReachable(false);
    expectProblem(await pull(), 503);
    expect(delivered()).toEqual([]);
  });

  test("accepts a key that was replaced a moment ago, and the former one beside it", async () => {
    await pull();
    const refs = {
      secrets: [
        { name: "new", key: "latest" },
        { name: "webhook-key", key: "latest" },
      ],
    };
    await start({ settings: { webhooks: refs } });
    endpoints.service.secretManager.share({ id: "new", labels: {}, values: [OTHER_KEY] });
    expect((await pull({ number: 1 }, { key: OTHER_KEY })).status).toBe(200);
    expect((await pull({ number: 2 }, { key: WEBHOOK_KEY })).status).toBe(200);
    endpoints.service.secretManager.share({ id: "new", labels: {}, values: [OTHER_KEY, OWN_KEY] });
    endpoints.service.clock.advance(3_000);
    expect((await pull({ number: 3 }, { key: OWN_KEY })).status).toBe(200);
  });

  test("counts by repository after the signature, and by address what it refuses", async () => {
    await start({ limits: { webhooksPerProjectPerMinute: 1, unauthenticatedPerMinute: 1 } });
    const first = await pull({ number: 1 });
    expect([first.status, first.headers["x-ratelimit-limit"]]).toEqual([200, "1"]);
    expectProblem(await pull({ number: 2 }), 429);
    // Another repository of the same address has its own count.
    expect((await pull({ repository: "shop/own-api" }, { key: OWN_KEY })).status).toBe(200);
    expectProblem(await pull({}, { key: OTHER_KEY }), 401);
    expectProblem(await pull({}, { key: OTHER_KEY }), 429);
  });

  describe("abuse case 122: an address whose webhooks were refused too often", () => {
    const limits = { refusedWebhooksPerMinute: 3, unauthenticatedPerMinute: 2 };
    const refuse = async () => {
      await start({ limits, api: { trustedProxyHops: 1 } });
      const statuses = [];
      for (let sent = 0; sent < 3; sent += 1) statuses.push((await pull({}, { key: OTHER_KEY })).status);
      expect(statuses).toEqual([401, 401, 429]);
    };

    test("is refused before its body is read", async () => {
      await refuse();
      const server = endpoints.service.app.listen(0);
      try {
        const { port } = server.address() as AddressInfo;
        const headers = { "content-type": "application/json", "content-length": 1_000_000 };
        const request = httpRequest({ port, path: PATH, method: "POST", headers });
        request.on("error", () => undefined).flushHeaders();
        const [reply] = (await once(request, "response")) as [IncomingMessage];
        expect(reply.statusCode).toBe(429);
        expect(Number(reply.headers["retry-after"])).toBeGreaterThan(0);
        request.destroy();
      } finally {
        server.closeAllConnections();
        server.close();
      }
    });

    test("has no key read and no signature compared for it, until the minute is over", async () => {
      await refuse();
      const { looks } = endpoints.service.secretManager;
      const before = looks.length;
      expectProblem(await pull({}, { key: OTHER_KEY }), 429);
      expectProblem(await pull(), 429);
      expect(looks.length).toBe(before);
      expect(names()).toEqual([]);
      endpoints.service.clock.advance(60_000);
      expect((await pull()).status).toBe(200);
    });

    test("is none of another address, nor one that sends what its limit for others refuses", async () => {
      await refuse();
      const text = JSON.stringify(pullRequestBody({ repository: "shop/shop-api" }));
      const other = { ...signedHeaders(text), "x-forwarded-for": "203.0.113.7" };
      expect((await post(text, other)).status).toBe(200);
      await start({ limits: { webhooksPerProjectPerMinute: 1, refusedWebhooksPerMinute: 1 } });
      expect((await pull({ number: 1 })).status).toBe(200);
      for (let sent = 0; sent < 3; sent += 1) expectProblem(await pull({ number: 2 }), 429);
      expect((await pull({ repository: "shop/own-api" }, { key: OWN_KEY })).status).toBe(200);
    });
  });

  test("is full at the bound of the settings, and takes repetitions all the same", async () => {
    await start({ settings: { webhooks: { secrets: [{ name: "webhook-key", key: "latest" }], pending: 1 } } });
    await pull({ number: 1 }, { delivery: "first" });
    await settled();
    const [first] = delivered();
    if (first !== undefined)
      endpoints.service.webhookDeliveries.put({ ...first, status: { phase: "pending", reason: "x", message: "" } });
    const full = await pull({ number: 2 });
    expectProblem(full, 503);
    expect(Number(full.headers["retry-after"])).toBeGreaterThan(0);
    expect((await pull({ number: 1 }, { delivery: "first" })).status).toBe(200);
  });

  // Abuse case 80.
  test("makes one environment of a thousand events of one pull request", async () => {
    // Enough for all of them at once: a Repository has a tenth.
    await start({ settings: { webhooks: { ...webhookKeySettings, pending: 10_000 } } });
    const at = (second: number) => new Date(Date.UTC(2026, 5, 1, 11, 0, second)).toISOString();
    const action = (second: number) => (second % 2 === 0 ? "opened" : "closed");
    const seconds = Array.from({ length: 1_000 }, (_, second) => second);
    const replies = await Promise.all(seconds.map((second) => pull({ action: action(second), updatedAt: at(second) })));
    expect(replies.filter(({ status }) => status !== 200)).toEqual([]);
    const living = endpoints.service.environments
      .list()
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    expect(living).toEqual([]);
    expect(names().length).toBeLessThanOrEqual(1);
    expect(endpoints.service.audit.records.length).toBeLessThanOrEqual(3);
  }, 60_000);

  test("acknowledges what it has stored, although the cluster goes away then", async () => {
    const { claim } = endpoints.service.webhookDeliveries;
    endpoints.service.webhookDeliveries.claim = async (...requested) => {
      const claimed = await claim(...requested);
      endpoints.service.environments.setReachable(false);
      return claimed;
    };
    const reply = await pull();
    expect(reply.body).toMatchObject({
      environment_created: false,
      message: expect.stringContaining("will be decided"),
    });
    expect(endpoints.service.webhookDeliveries.pending()).toHaveLength(1);
  });
});
