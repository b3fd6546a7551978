/** Pushes of any size: hosts send up to 25 MB. */
import { createHmac, randomBytes } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { aRepository } from "../../support/doubles/memory/repositories.ts";
import { standardWebhookHeaders } from "../../support/fixtures/webhooks/received-webhook.ts";
import { pullRequestBody, signedHeaders, WEBHOOK_KEY } from "../../support/fixtures/webhooks/webhook-fixture.ts";
import { expectProblem } from "../../support/http/api-promises.ts";
import { OTHER_KEY, OWN_KEY, PATH, PIPELINES, webhookEndpoints } from "./webhook-endpoints.ts";

const endpoints = webhookEndpoints();
const { post, delivered, start } = endpoints;

const newSigning = () => `whsec_${randomBytes(32).toString("base64")}`;
const SIGNING = newSigning();
const KINDS = ["github", "gitea", "gitlab"] as const;

/** The headers of a push of this kind of host; GitLab signs with its own token. */
function headersOf(kind: (typeof KINDS)[number], text: string, key: string, signing: string): Record<string, string> {
  const hmac = createHmac("sha256", key).update(text).digest("hex");
  const at = endpoints.service.clock.now();
  return {
    github: { "x-github-event": "push", "x-hub-signature-256": `sha256=${hmac}` },
    gitea: { "x-gitea-event": "push", "x-gitea-signature": hmac },
    gitlab: { "x-gitlab-event": "Push Hook", ...standardWebhookHeaders(text, signing, { at }) },
  }[kind];
}
const HEAD = "b".repeat(40);
const MIB = 1_048_576;

function commits(bytes: number) {
  const one = {
    id: "c".repeat(40),
    message: "Faster checkout ".repeat(20),
    added: ["a.ts"],
    removed: [],
    modified: [],
  };
  return Array.from({ length: Math.ceil(bytes / JSON.stringify(one).length) }, () => one);
}

/** A push of a host, with its repository before or after its commits. */
function pushOf(fullName: string, { bytes = 1.2 * MIB, isLast = false, more = {} } = {}): string {
  const ref = { ref: "refs/heads/main", after: HEAD };
  const named = { repository: { id: 4711, full_name: fullName, path_with_namespace: fullName } };
  const list = { commits: commits(bytes), head_commit: { id: HEAD } };
  return JSON.stringify(isLast ? { ...ref, ...list, ...named, ...more } : { ...ref, ...named, ...list, ...more });
}

const asPush = (text: string, key = WEBHOOK_KEY) => signedHeaders(text, { event: "push", key });
const pushes = () => delivered().map(({ spec }) => spec.event.push);

describe("a push of 1,500 commits", () => {
  test.each([
    ["whose repository is named first", false],
    ["whose repository is named last", true],
  ])("%s is taken", async (_what, isLast) => {
    const text = pushOf("shop/shop-api", { isLast });
    expect((await post(text, asPush(text))).body).toMatchObject({ status: "processed" });
    expect(pushes()).toEqual([{ branch: "main", commit: HEAD, deleted: false }]);
    const wrong = pushOf("shop/shop-api", { isLast, more: { compare: "x" } });
    expectProblem(await post(wrong, asPush(wrong, OTHER_KEY)), 401);
    expectProblem(await post(wrong, { ...asPush(wrong), "x-hub-signature-256": "" }), 401);
  });

  test("of GitHub, of Gitea and of GitLab is taken, and one with another key is refused", async () => {
    await start({
      settings: { hosts: KINDS.map((kind) => ({ id: kind, kind, apiUrl: `https://${kind}.example.test/api/v4` })) },
      repositories: KINDS.map((kind) => {
        const key = { name: kind === "gitlab" ? "signing" : "own-key", key: "latest" };
        return aRepository(kind, { host: kind, fullName: `shop/${kind}`, webhookSecretRef: key });
      }),
    });
    endpoints.service.secretManager.share({ id: "signing", labels: {}, values: [SIGNING] });
    for (const kind of KINDS) {
      const named = { object_kind: "push", project: { id: 1, path_with_namespace: `shop/${kind}` } };
      const text = JSON.stringify({ ...named, ...(JSON.parse(pushOf(`shop/${kind}`)) as object) });
      expectProblem(await post(text, headersOf(kind, text, OTHER_KEY, newSigning())), 401);
      expect((await post(text, headersOf(kind, text, OWN_KEY, SIGNING))).status).toBe(200);
    }
    expect(delivered().map(({ spec }) => [spec.host, spec.event.push?.commit])).toEqual(
      KINDS.map((kind) => [kind, HEAD]),
    );
  });

  test("at the endpoint of pipelines is held to its token", async () => {
    const text = JSON.stringify({
      object_kind: "pipeline",
      project: { id: 1, path_with_namespace: "shop/shop-api" },
      object_attributes: { id: 7, status: "running", sha: HEAD, ref: "main" },
      builds: commits(1.2 * MIB),
    });
    expectProblem(await post(text, { "x-pipeline-token": OTHER_KEY }, PIPELINES), 401);
    const token = "the-token-of-pipelines-in-all-the-tests";
    expect((await post(text, { "x-pipeline-token": token }, PIPELINES)).status).toBe(200);
  });
});

describe("abuse: nothing of a large body is believed before its signature fits over all of it", () => {
  test("a change behind what is read is noticed", async () => {
    const text = pushOf("shop/shop-api");
    const changed = `${text.slice(0, -20)}${text.slice(-20).replace("b", "d")}`;
    expect(changed).not.toBe(text);
    expectProblem(await post(changed, asPush(text)), 401);
    expect(delivered()).toEqual([]);
  });

  test("the key of the repository that is named first proves nothing of one that is named behind", async () => {
    const own = pushOf("shop/own-api", { more: { project: { path_with_namespace: "shop/lab-api" } } });
    expect((await post(own, asPush(own, OWN_KEY))).status).toBe(200);
    expect(delivered().map(({ spec }) => spec.repositories)).toEqual([["own-api"]]);
    const twice = `${own.slice(0, -1)},"repository":{"full_name":"shop/shop-api"}}`;
    expectProblem(await post(twice, asPush(twice, OWN_KEY)), 400);
  });

  test("an unknown repository is refused as one with another key", async () => {
    for (const name of ["shop/unknown", "shop/shop-api"]) {
      const text = pushOf(name);
      expectProblem(await post(text, asPush(text, OTHER_KEY)), 401, /signature or token is missing or wrong/);
    }
  });
});

describe("a body beyond the limit of the settings", () => {
  const webhooks = { secrets: [{ name: "webhook-key", key: "latest" }], maxBodyBytes: MIB };

  async function stream(text: string, headers: object) {
    const request = endpoints.service.http.post(PATH).set({ "content-type": "application/json", ...headers });
    request.write(text.slice(0, 1_000));
    request.write(text.slice(1_000));
    return new Promise<Awaited<ReturnType<typeof post>>>((resolve, reject) => {
      request.end((error: Error | null, reply) => (reply === undefined ? reject(error) : resolve(reply)));
    });
  }

  test.each([
    ["that says so", post],
    ["that says nothing of its length", stream],
  ])("%s is refused, and on record", async (_what, send) => {
    await start({ settings: { webhooks } });
    const text = pushOf("shop/shop-api");
    const id = "72d3162e-cc78-11e3-81ab-4c9367dc0958";
    const signed = signedHeaders(text, { event: "push", delivery: id });
    expectProblem(await send(text, signed), 413, /1048576 bytes/);
    expectProblem(await send(text, signed), 413);
    expect(delivered()).toMatchObject([
      {
        spec: { source: "repohost", deliveryId: id, eventName: "push", verified: false, event: { type: "other" } },
        status: { phase: "ignored", reason: "TooLarge", message: "The body may have 1048576 bytes at most" },
      },
    ]);
    const { service } = endpoints;
    const redelivery = `/api/v2/webhooks/deliveries/${delivered()[0]?.metadata.name}/redeliver`;
    const reply = await service.http.post(redelivery).set("authorization", await service.bearer("maintainer"));
    expectProblem(reply, 409);
  });

  test("at its default of 25 MiB", async () => {
    const text = pushOf("shop/shop-api", { bytes: 24 * MIB });
    expect((await post(text, asPush(text))).status).toBe(200);
    const longer = pushOf("shop/shop-api", { bytes: 25.5 * MIB });
    expectProblem(await post(longer, asPush(longer)), 413, /26214400 bytes/);
  });
});

test("the endpoints without a signature take 1 MiB, as before", async () => {
  const text = JSON.stringify({ event: "x", more: "x".repeat(1.1 * MIB) });
  expectProblem(await post(text, {}, "/api/webhooks/generic"), 413);
});

test("a small body is read as before", async () => {
  const text = JSON.stringify(pullRequestBody({ repository: "shop/shop-api" }));
  expect((await post(text, signedHeaders(text), PATH)).body).toMatchObject({ environment_created: true });
});
