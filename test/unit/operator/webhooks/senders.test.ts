import { createHmac } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import type { Repository } from "../../../../crds/repository/repository.ts";
import { bodyMemory } from "../../../../operator/kit/body-memory.ts";
import { WebhookKeysMissing, WebhookRefused } from "../../../../operator/ports/api/webhook-inbox.ts";
import { type FormatKind, verifySender, type WebhookFormats } from "../../../../operator/webhooks/senders.ts";
import { createWebhookKeys } from "../../../../operator/webhooks/webhook-keys.ts";
import { WEBHOOK_FORMATS } from "../../../../operator/wiring/hosts.ts";
import { aRepository, memoryRepositories } from "../../../support/doubles/memory/repositories.ts";
import { memorySecretManager } from "../../../support/doubles/memory/secret-manager.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";
import { fixtureSettings } from "../../../support/fixtures/environment/environment-fixture.ts";
import { inChunks } from "../../../support/fixtures/webhooks/received-webhook.ts";
import { pullRequestBody, signedHeaders } from "../../../support/fixtures/webhooks/webhook-fixture.ts";

const ref = (name: string) => ({ name, key: "latest" });
const key = (letter: string) => letter.repeat(32);

/** Repositories, the global keys beside theirs, and the work for refusing a webhook. */
function scene(repositories: readonly Repository[], globals: readonly string[]) {
  const secretManager = memorySecretManager();
  for (const id of ["own", "global"]) secretManager.share({ id, labels: {}, values: [key(id[0] ?? "")] });
  const clock = new TestClock();
  const webhooks = { ...fixtureSettings.webhooks, secrets: globals.map(ref), pipelineTokens: [] };
  const settings = { webhooks, hosts: [] };
  let judged = 0;
  const counting = (kind: FormatKind) => {
    const { format } = WEBHOOK_FORMATS[kind];
    const authentication: typeof format.authentication = (received, keys, at) => {
      judged += keys.secrets.length;
      return format.authentication(received, keys, at);
    };
    return [kind, { format: { ...format, authentication } }];
  };
  const formats = Object.fromEntries(
    (["github", "gitea", "gitlab", "neutral"] as const).map(counting),
  ) as WebhookFormats;
  const keys = createWebhookKeys({ settings, secretManager, clock });
  const context = { settings, repositories: memoryRepositories(...repositories), formats, keys, clock };
  const send = async (repository: string, signedWith: string) => {
    const text = JSON.stringify(pullRequestBody({ repository }));
    const headers = signedHeaders(text, { key: signedWith });
    const [reads, judgements] = [secretManager.looks.length, judged];
    const refusal = await verifySender(
      { source: "repohost", headers, chunks: inChunks(text) },
      context,
      bodyMemory(0),
    ).then(
      () => undefined,
      (error: Error) => error,
    );
    return { refusal, reads: secretManager.looks.length - reads, judged: judged - judgements };
  };
  return { send, clock };
}

const plain = aRepository("plain");
const own = aRepository("own", { webhookSecretRef: ref("own") });
const keyless = aRepository("keyless");

describe("abuse case 121: an unknown repository is refused like a known one, after as much work", () => {
  test.each([
    ["which has a key of its own, where no global key is set", [own], [], "shop/own"],
    ["where there is a global key", [plain], ["global"], "shop/plain"],
    ["where no key is set at all", [keyless], [], "shop/keyless"],
    ["which names a key that is not there", [aRepository("lost", { webhookSecretRef: ref("lost") })], [], "shop/lost"],
  ])("%s", async (_case, repositories, globals, known) => {
    const work = async (repository: string) => {
      const { send, clock } = scene(repositories, globals);
      const first = await send(repository, key("x"));
      const again = await send(repository, key("x"));
      clock.advance(3_000);
      return [first, again, await send(repository, key("x"))];
    };
    expect(await work("shop/unknown")).toEqual(await work(known));
  });

  test("as one of them: where some have no key, each unknown one always has the same answer", async () => {
    const { send } = scene([own, keyless], []);
    const refusalOf = async (name: string) => (await send(name, key("x"))).refusal;
    expect(await refusalOf("shop/own")).toBeInstanceOf(WebhookRefused);
    expect(await refusalOf("shop/keyless")).toBeInstanceOf(WebhookKeysMissing);
    const names = Array.from({ length: 32 }, (_, at) => `shop/unknown-${at}`);
    const kinds = [];
    for (const name of names) kinds.push((await refusalOf(name))?.constructor);
    expect(new Set(kinds)).toEqual(new Set([WebhookRefused, WebhookKeysMissing]));
    const { send: ofReplica } = scene([keyless, own], []);
    for (const [at, name] of names.entries()) {
      expect((await ofReplica(name, key("x"))).refusal?.constructor).toBe(kinds[at]);
    }
  });

  test("and so is everything where there is no key", async () => {
    const { send } = scene([keyless], []);
    for (const name of ["shop/keyless", "shop/unknown"]) {
      expect((await send(name, key("x"))).refusal).toBeInstanceOf(WebhookKeysMissing);
    }
  });

  test("also where there is no repository", async () => {
    expect((await scene([], ["global"]).send("shop/unknown", key("g"))).refusal).toBeInstanceOf(WebhookRefused);
    expect((await scene([], []).send("shop/unknown", key("g"))).refusal).toBeInstanceOf(WebhookKeysMissing);
  });

  test("also with the key of another repository", async () => {
    const { send } = scene([own], []);
    expect((await send("shop/own", key("o"))).refusal).toBeUndefined();
    expect((await send("shop/unknown", key("o"))).refusal).toBeInstanceOf(WebhookRefused);
  });
});

describe("repositories of one name on two hosts that share a key", () => {
  const hosts = ["a", "b"].map((id) => ({ id, kind: "github" as const, apiUrl: `https://api.${id}.test` }));
  test.each([
    ["g", "https://a.test/shop/api.git", ["api-a"], "a"],
    ["g", "https://b.test/shop/api.git", ["api-b"], "b"],
    // Nothing tells them apart: the first one counts.
    ["g", "https://elsewhere.test/shop/api.git", ["api-a"], "a"],
    // Only what fits counts, whatever the address says.
    ["o", "https://a.test/shop/api.git", ["api-b"], "b"],
  ])("are told apart: key '%s', address %s", async (letter, clone_url, names, host) => {
    const [ofA, ofB] = ["a", "b"].map((one) =>
      aRepository(`api-${one}`, {
        host: one,
        fullName: "shop/api",
        cloneUrl: `https://${one}.test/shop/api.git`,
        ...(letter === "o" && one === "b" && { webhookSecretRef: ref("own") }),
      }),
    );
    const secretManager = memorySecretManager();
    for (const id of ["own", "global"]) secretManager.share({ id, labels: {}, values: [key(id[0] ?? "")] });
    const webhooks = { ...fixtureSettings.webhooks, secrets: [ref("global")], pipelineTokens: [] };
    const settings = { webhooks, hosts };
    const clock = new TestClock();
    const keys = createWebhookKeys({ settings, secretManager, clock });
    const repositories = memoryRepositories(ofA as Repository, ofB as Repository);
    const context = { settings, repositories, formats: WEBHOOK_FORMATS, keys, clock };
    const body = pullRequestBody({ repository: "shop/api" });
    const text = JSON.stringify({ ...body, repository: { ...body.repository, id: 7, clone_url } });
    const signature = createHmac("sha256", key(letter)).update(text).digest("hex");
    const headers = { "x-github-event": "pull_request", "x-hub-signature-256": `sha256=${signature}` };
    const verified = await verifySender(
      { source: "repohost", headers, chunks: inChunks(text) },
      context,
      bodyMemory(0),
    );
    expect(verified.repositories.map(({ metadata }) => metadata.name)).toEqual(names);
    expect(verified).toMatchObject({ host, hostRepository: { id: "7" } });
  });
});
