import { beforeEach, describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../../config/settings.ts";
import type { EnvironmentStatus } from "../../../../crds/ephemeral-environment.ts";
import { done, type Findings, failed, waiting } from "../../../../operator/environment/step.ts";
import { type Looking, withPullSecret } from "../../../../operator/environment/steps/pull-secret.ts";
import { secretKind } from "../../../../operator/kinds.ts";
import { SecretManagerUnavailable } from "../../../../operator/ports/secret-manager.ts";
import { environmentFixture, repositoryFixture } from "../../../support/environment-fixture.ts";
import { type MemoryCluster, memoryCluster } from "../../../support/memory-cluster.ts";
import { type MemoryRepositories, memoryRepositories } from "../../../support/memory-repositories.ts";
import { type MemorySecretManager, memorySecretManager } from "../../../support/memory-secret-manager.ts";
import { testSettings } from "../../../support/platform-chart.ts";
import { TestClock } from "../../../support/test-clock.ts";

const ref = { name: "image-pull", namespace: "env-shop" };
const MADE: EnvironmentStatus["pullSecret"] = [{ registry: "registry.test", source: "shop@latest" }];
const podSecrets = ["environment-secrets-00000001"];

let cluster: MemoryCluster;
let secretManager: MemorySecretManager;
let repositories: MemoryRepositories;
let status: EnvironmentStatus;
let clock: TestClock;
beforeEach(() => {
  cluster = memoryCluster();
  secretManager = memorySecretManager();
  clock = new TestClock();
  repositories = memoryRepositories();
  status = { podSecrets };
  named("shop");
  store("reader:one");
});

const store = (value: string) => secretManager.share({ id: "shop", labels: {}, values: [value] });

/** The Repository names this credential from now on, or none. */
function named(credential?: string): void {
  const spec = credential === undefined ? {} : { imagePullSecretRef: { name: credential, key: "latest" } };
  repositories.put(repositoryFixture("shop-api", spec));
}

/** A pass a minute later; what it finds is in the next one's status. */
async function pass({ isLook = false, result = done("Mirrored") } = {}) {
  clock.advance(60_000);
  const hostCredentials = [{ id: "shop", hosts: ["registry.test"] }];
  const settings = settingsFrom({ ...testSettings, secrets: { hostCredentials } });
  const context = { cluster, secretManager, repositories, settings, clock, isLook } as unknown as Looking;
  const ended = await withPullSecret(environmentFixture({ status }), result, context);
  status = { ...status, ...ended.findings };
  return ended;
}

/** The credential that pods pull with; `undefined` when there is no Secret. */
function held(): string | undefined {
  const found = cluster.observe({ name: "shop", uid: environmentFixture().metadata.uid }, secretKind, ref);
  if (found === undefined) return undefined;
  const { ".dockerconfigjson": text = "" } = found.data as Record<string, string>;
  const { auths } = JSON.parse(Buffer.from(text, "base64").toString());
  return Buffer.from(auths["registry.test"].auth, "base64").toString();
}

const questions = () => cluster.looks(secretKind) + secretManager.looks.length;

describe("the Secret of image pulls", () => {
  test("is made beside that of the pods, and what that found stays", async () => {
    const findings: Findings = { podSecrets };
    expect(await pass({ result: done("Mirrored", { findings, recheckAfterMs: 7 }) })).toEqual(
      done("Mirrored", { findings: { podSecrets, pullSecret: MADE }, recheckAfterMs: 7 }),
    );
    expect(held()).toBe("reader:one");
  });

  test.each([
    { name: "that of the pods is awaited", given: { result: waiting("AwaitingValue", "", { recheckAfterMs: 1 }) } },
    { name: "that of the pods was never made", given: { result: failed("SecretsMissing", "") }, podSecrets: [] },
  ])("is not made while $name", async ({ given, ...before }) => {
    status = { ...status, ...before };
    expect(await pass(given)).toEqual(given.result);
    expect(questions()).toBe(0);
  });

  test("is believed to be as it was made, and nobody is asked", async () => {
    await pass();
    const before = questions();
    await pass();
    expect(questions()).toBe(before);
  });

  test("costs nothing where no Repository needs it", async () => {
    named();
    expect((await pass({ isLook: true })).findings).toEqual({});
    expect(questions()).toBe(0);
  });

  test("is made when its Repository begins to name a credential", async () => {
    named();
    await pass();
    named("shop");
    await pass();
    expect(held()).toBe("reader:one");
  });

  test("comes back at a look", async () => {
    await pass();
    await cluster.remove({ name: "shop", uid: environmentFixture().metadata.uid }, secretKind, ref);
    await pass({ isLook: true });
    expect(held()).toBe("reader:one");
  });

  test("follows the secret manager at a look, and the status says the same as before", async () => {
    await pass();
    store("reader:two");
    await pass({ isLook: true });
    expect(held()).toBe("reader:two");
    expect(status.pullSecret).toEqual(MADE);
  });

  test("is found by the next pass after a crash, and made no second time", async () => {
    await pass();
    status = { podSecrets };
    const [made] = cluster.list();
    await pass();
    expect(cluster.list()).toEqual([made]);
    expect(status.pullSecret).toEqual(MADE);
  });

  test("is made by the next pass when a crash came between its two lives", async () => {
    await pass();
    store("reader:two");
    const { ensure } = cluster;
    cluster.ensure = async () => {
      throw new Error("crash");
    };
    await expect(pass({ isLook: true })).rejects.toThrow("crash");
    expect(held()).toBeUndefined();
    cluster.ensure = ensure;
    await pass({ isLook: true });
    expect(held()).toBe("reader:two");
  });

  test("goes when no Repository needs it any more, once", async () => {
    await pass();
    named();
    await pass();
    expect(held()).toBeUndefined();
    expect(status.pullSecret).toEqual([]);
    const before = questions();
    await pass({ isLook: true });
    expect(questions()).toBe(before);
  });

  test("stays when its Repository is missing", async () => {
    await pass();
    repositories.drop("shop-api");
    await pass({ isLook: true });
    expect(held()).toBe("reader:one");
    expect(status.pullSecret).toEqual(MADE);
  });
});

describe("while the secret manager is away", () => {
  beforeEach(async () => {
    await pass();
    secretManager.setReachable(false);
  });

  test("what is there will do", async () => {
    expect(await pass({ isLook: true })).toMatchObject({ state: "done" });
    expect(held()).toBe("reader:one");
  });

  test("what is gone is waited for", async () => {
    await cluster.remove(environmentFixture().metadata, secretKind, ref);
    await expect(pass({ isLook: true })).rejects.toBeInstanceOf(SecretManagerUnavailable);
  });

  test("what is asked for anew is waited for", async () => {
    status = { ...status, pullSecret: [] };
    await expect(pass()).rejects.toBeInstanceOf(SecretManagerUnavailable);
  });
});

describe("a credential that can't be used", () => {
  test("fails the step, keeps what was found and what there is", async () => {
    await pass();
    named("other");
    const findings: Findings = { podSecrets: [...podSecrets, "environment-secrets-00000002"] };
    const ended = await pass({ result: done("Mirrored", { findings }) });
    expect(ended).toMatchObject({ state: "failed", reason: "CredentialNotBound", findings, recheckAfterMs: 30_000 });
    expect(status.pullSecret).toEqual(MADE);
    expect(held()).toBe("reader:one");
  });

  test("any more fails nothing that has it, and everything that lost it", async () => {
    await pass();
    secretManager.share({ id: "shop", labels: {}, values: [] });
    expect(await pass({ isLook: true })).toMatchObject({ state: "done" });
    expect(held()).toBe("reader:one");
    await cluster.remove(environmentFixture().metadata, secretKind, ref);
    expect(await pass({ isLook: true })).toMatchObject({ state: "failed", reason: "CredentialNotFound" });
  });

  test("leaves the word to what failed before it", async () => {
    named("other");
    const refusal = failed("RotationUnknown", "X: no variable");
    expect(await pass({ result: refusal })).toEqual(refusal);
  });
});
