import { beforeEach, describe, expect, test } from "@jest/globals";
import { createWebhookKeys, type WebhookKeySource } from "../../../../operator/webhooks/webhook-keys.ts";
import { aRepository } from "../../../support/doubles/memory/repositories.ts";
import { type MemorySecretManager, memorySecretManager } from "../../../support/doubles/memory/secret-manager.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";
import { fixtureSettings } from "../../../support/fixtures/environment/environment-fixture.ts";

const key = (letter: string) => letter.repeat(32);
const ref = (name: string) => ({ name, key: "latest" });
const own = aRepository("own", { webhookSecretRef: ref("own"), formerWebhookSecretRef: ref("former") });

let secretManager: MemorySecretManager;
let clock: TestClock;
let keys: WebhookKeySource;
beforeEach(() => {
  secretManager = memorySecretManager();
  clock = new TestClock();
  const webhooks = { ...fixtureSettings.webhooks, secrets: [ref("global")], pipelineTokens: [ref("token")] };
  keys = createWebhookKeys({ settings: { webhooks }, secretManager, clock });
  const share = (id: string, ...values: string[]) => secretManager.share({ id, labels: {}, values });
  share("global", key("g"));
  share("token", `${key("t")}\n`);
  share("own", key("o"));
  share("former", key("f"));
});

const revealed = async (requested: ReturnType<WebhookKeySource["keysOf"]>) => {
  const { secrets, pipelineTokens } = await requested;
  return [secrets, pipelineTokens].map((list) => list.map((value) => value.reveal()));
};

describe("the keys of a webhook", () => {
  test("are the global ones for a Repository without its own, without a line break at their end", async () => {
    expect(await revealed(keys.keysOf(aRepository("plain")))).toEqual([[key("g")], [key("t")]]);
  });

  test("are its own two and no others where it has some, also as tokens", async () => {
    expect(await revealed(keys.keysOf(own))).toEqual([
      [key("o"), key("f")],
      [key("o"), key("f")],
    ]);
  });

  test("lack those that the secret manager lacks, and those of fewer than 32 bytes", async () => {
    secretManager.share({ id: "own", labels: {}, values: ["x".repeat(31)] });
    const repository = aRepository("own", { webhookSecretRef: ref("own"), formerWebhookSecretRef: ref("absent") });
    expect(await revealed(keys.keysOf(repository))).toEqual([[], []]);
  });

  test("are read once, and anew every three seconds at most when they did not fit", async () => {
    await keys.keysOf(undefined);
    await keys.keysOf(undefined);
    expect(secretManager.looks).toEqual(["read global", "read token"]);
    secretManager.share({ id: "global", labels: {}, values: [key("n")] });
    expect(await revealed(keys.keysNow(undefined))).toEqual([[key("n")], [key("t")]]);
    secretManager.share({ id: "global", labels: {}, values: [key("m")] });
    expect(await revealed(keys.keysNow(undefined))).toEqual([[key("n")], [key("t")]]);
    clock.advance(3_000);
    expect(await revealed(keys.keysNow(undefined))).toEqual([[key("m")], [key("t")]]);
  });

  test("are not remembered as absent when the secret manager was away", async () => {
    secretManager.setReachable(false);
    await expect(keys.keysOf(undefined)).rejects.toThrow("The secret manager can't be used");
    secretManager.setReachable(true);
    expect(await revealed(keys.keysOf(undefined))).toEqual([[key("g")], [key("t")]]);
  });
});
