import { beforeEach, describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../../../config/settings.ts";
import type { EnvironmentSpec, EnvironmentStatus } from "../../../../../crds/environment/ephemeral-environment.ts";
import { credentialsIn } from "../../../../../operator/environment/desired/pull-secret.ts";
import {
  done,
  type Findings,
  failed,
  type StepResult,
  waiting,
} from "../../../../../operator/environment/step-result.ts";
import {
  retirePulls,
  type SecretsContext,
  withPullSecret,
} from "../../../../../operator/environment/steps/pull-secret.ts";
import { secretKind } from "../../../../../operator/kit/client/kinds.ts";
import { BeingDeleted, type ObservedObject } from "../../../../../operator/ports/cluster.ts";
import { type MemoryCluster, memoryCluster } from "../../../../support/doubles/memory/cluster.ts";
import { type MemoryRepositories, memoryRepositories } from "../../../../support/doubles/memory/repositories.ts";
import { type MemorySecretManager, memorySecretManager } from "../../../../support/doubles/memory/secret-manager.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { environmentFixture, repositoryFixture } from "../../../../support/fixtures/environment-fixture.ts";
import { testSettings } from "../../../../support/fixtures/test-settings.ts";

const ref = { name: "image-pull", namespace: "env-shop" };
const MADE: EnvironmentStatus["pullSecret"] = [{ registry: "registry.test", source: "shop@latest" }];
const podSecrets = ["environment-secrets-00000001"];

let cluster: MemoryCluster;
let secretManager: MemorySecretManager;
let repositories: MemoryRepositories;
let status: EnvironmentStatus;
let clock: TestClock;
let spec: Partial<EnvironmentSpec>;
beforeEach(() => {
  cluster = memoryCluster();
  secretManager = memorySecretManager();
  clock = new TestClock();
  repositories = memoryRepositories();
  status = { podSecrets };
  spec = {};
  named("shop");
  store("reader:one");
});

const store = (value: string) => secretManager.share({ id: "shop", labels: {}, values: [value] });

/** The Repository names this credential from now on, or none, for an image that is there. */
function named(credential?: string, image = "registry.test/shop-api"): void {
  const spec = credential === undefined ? {} : { imagePullSecretRef: { name: credential, key: "latest" } };
  repositories.put(repositoryFixture("shop-api", { image: { repository: image }, ...spec }));
}

function contextOf(isCheckDue = false): SecretsContext {
  const hostCredentials = [
    { id: "shop", hosts: ["registry.test"] },
    { id: "other", hosts: ["other.test"] },
  ];
  const settings = settingsFrom({ ...testSettings, secrets: { hostCredentials } });
  return {
    cluster,
    secretManager,
    repositories,
    settings,
    clock,
    isCheckDue,
    noteAnswer: () => undefined,
    canContinueAfter: async () => true,
  } as unknown as SecretsContext;
}

interface Given {
  readonly isCheckDue?: boolean;
  /** That of the pods' Secret. */
  readonly result?: StepResult<Findings<"secrets" | "podSecrets">>;
}

/** A reconcile a minute later; its findings are in the status of the next one. */
async function pass({ isCheckDue = false, result = done("Mirrored") }: Given = {}) {
  clock.advance(60_000);
  const ended = await withPullSecret(environmentFixture({ spec, status }), result, contextOf(isCheckDue));
  status = { ...status, ...ended.findings };
  return ended;
}

/** The version with these images runs, and no other any more. */
async function runs(image = "registry.test/shop-api"): Promise<void> {
  const sources = { backend: { applied: { branch: "main", commit: "", image: `${image}:1` } } };
  status = { ...status, desiredHash: "1", sources };
  const found = await retirePulls(environmentFixture({ spec, status }), contextOf());
  status = { ...status, ...found };
}

/** What pods pull with, by registry; `undefined` when there is no Secret. */
function contents(): Record<string, string> | undefined {
  const found = cluster.observe(environmentFixture().metadata, secretKind, ref);
  if (found === undefined) return undefined;
  return Object.fromEntries([...credentialsIn(found)].map(([registry, credential]) => [registry, credential.reveal()]));
}

const held = () => contents()?.["registry.test"];

const questions = () => cluster.looks(secretKind) + secretManager.looks.length;

describe("the Secret of image pulls", () => {
  test("is made beside that of the pods, and what that found stays", async () => {
    const findings = { podSecrets };
    expect(await pass({ result: done("Mirrored", { findings, requeueAfterMs: 7 }) })).toEqual(
      done("Mirrored", { findings: { podSecrets, pullSecret: MADE }, requeueAfterMs: 7 }),
    );
    expect(held()).toBe("reader:one");
  });

  test.each([
    { name: "that of the pods is awaited", given: { result: waiting("AwaitingValue", "", { requeueAfterMs: 1 }) } },
    { name: "that of the pods was never made", given: { result: failed("SecretsMissing", "") }, podSecrets: [] },
  ])("is not made while $name", async ({ given, ...before }) => {
    status = { ...status, ...before };
    expect(await pass(given)).toEqual(given.result);
    expect(questions()).toBe(0);
  });

  test("is trusted to be as it was made, without a read", async () => {
    await pass();
    const before = questions();
    await pass();
    expect(questions()).toBe(before);
  });

  test("costs nothing where no Repository needs it", async () => {
    named();
    expect((await pass({ isCheckDue: true })).findings).toBeUndefined();
    expect(questions()).toBe(0);
  });

  test("is made when its Repository begins to name a credential", async () => {
    named();
    await pass();
    named("shop");
    await pass();
    expect(held()).toBe("reader:one");
  });

  test("is restored at a check", async () => {
    await pass();
    await cluster.remove({ name: "shop", uid: environmentFixture().metadata.uid }, secretKind, ref);
    await pass({ isCheckDue: true });
    expect(held()).toBe("reader:one");
  });

  test("follows the secret manager at a check, and the status is the same as before", async () => {
    await pass();
    store("reader:two");
    await pass({ isCheckDue: true });
    expect(held()).toBe("reader:two");
    expect(status.pullSecret).toEqual(MADE);
  });

  test("is found by the next reconcile after a crash, and not made twice", async () => {
    await pass();
    status = { podSecrets };
    const [made] = cluster.list();
    await pass();
    expect(cluster.list()).toEqual([made]);
    expect(status.pullSecret).toEqual(MADE);
  });

  test("goes when no Repository needs it any more, once, and after the pods that named it", async () => {
    await pass();
    named();
    await pass({ isCheckDue: true });
    expect(held()).toBe("reader:one");
    await runs();
    expect(held()).toBeUndefined();
    expect(status.pullSecret).toEqual([]);
    const before = questions();
    await pass({ isCheckDue: true });
    await runs();
    expect(questions()).toBe(before);
  });

  test("deletes nothing that another leader put in its place meanwhile", async () => {
    await pass();
    store("reader:two");
    const { read } = cluster;
    const stale = await read(environmentFixture().metadata, secretKind, ref);
    await pass({ isCheckDue: true });
    cluster.read = async () => stale;
    store("reader:three");
    expect(await pass({ isCheckDue: true })).toMatchObject({ state: "waiting", reason: "BeingDeleted" });
    expect(held()).toBe("reader:two");
    cluster.read = read;
    await pass({ isCheckDue: true });
    expect(held()).toBe("reader:three");
  });

  test("stays when its Repository is missing", async () => {
    await pass();
    repositories.drop("shop-api");
    await pass({ isCheckDue: true });
    expect(held()).toBe("reader:one");
    expect(status.pullSecret).toEqual(MADE);
  });
});

describe("when its Repository moves", () => {
  const MOVED = "other.test/shop-api";
  beforeEach(async () => {
    secretManager.share({ id: "other", labels: {}, values: ["other:one"] });
    await pass();
    await runs();
    named("other", MOVED);
  });

  test("what the pods of before pull with stays until those of now run", async () => {
    await pass();
    expect(contents()).toEqual({ "registry.test": "reader:one", "other.test": "other:one" });
    expect(status.pullSecret).toEqual([{ registry: "other.test", source: "other@latest" }, ...MADE]);
    await runs();
    expect(held()).toBe("reader:one");
    await runs(MOVED);
    expect(contents()).toEqual({ "other.test": "other:one" });
    expect(status.pullSecret).toEqual([{ registry: "other.test", source: "other@latest" }]);
    const before = questions();
    await pass();
    await runs(MOVED);
    expect(questions()).toBe(before);
  });

  test("what another operator makes in between is not taken for what was to be made", async () => {
    await pass();
    const { metadata } = environmentFixture();
    const before = (await cluster.read(metadata, secretKind, ref)) as ObservedObject;
    const { remove } = cluster;
    cluster.remove = async (...which) => {
      const removal = await remove(...which);
      await cluster.ensure(metadata, secretKind, before);
      return removal;
    };
    await expect(runs(MOVED)).rejects.toThrow(BeingDeleted);
    expect(status.pullSecret).toHaveLength(2);
    cluster.remove = remove;
    await runs(MOVED);
    expect(contents()).toEqual({ "other.test": "other:one" });
  });

  test("a Secret that is missing when former pods are gone keeps its status, until a check restores it", async () => {
    await pass();
    const named = status.pullSecret;
    await cluster.remove(environmentFixture().metadata, secretKind, ref);
    await runs(MOVED);
    expect(status.pullSecret).toEqual(named);
    await pass({ isCheckDue: true });
    expect(contents()).toEqual({ "other.test": "other:one" });
    expect(status.pullSecret).toEqual([{ registry: "other.test", source: "other@latest" }]);
  });

  test("the former credential stays at a check, too, and while the new one is not available", async () => {
    secretManager.share({ id: "other", labels: {}, values: [] });
    expect(await pass({ isCheckDue: true })).toMatchObject({ state: "done" });
    await runs(MOVED);
    expect(contents()).toEqual({ "registry.test": "reader:one" });
    expect(status.pullSecret).toEqual(MADE);
  });
});

describe("a credential that can't be had", () => {
  const away = () => secretManager.setReachable(false);
  const gone = () => secretManager.share({ id: "shop", labels: {}, values: [] });
  const elsewhere = () => named("other");
  const cases = [
    {
      name: "while the secret manager is away",
      given: away,
      expected: { state: "waiting", reason: "SecretManagerUnavailable" },
    },
    { name: "because it is gone", given: gone, expected: { state: "failed", reason: "CredentialNotFound" } },
    {
      name: "because it is another host's",
      given: elsewhere,
      expected: { state: "failed", reason: "CredentialNotBound" },
    },
  ];

  test.each(cases)(
    "$name: stops an environment of which nothing runs, and what was found stays",
    async ({ given, expected }) => {
      given();
      const findings: Findings = { podSecrets: [...podSecrets, "environment-secrets-00000002"] };
      expect(await pass({ result: done("Mirrored", { findings }) })).toMatchObject({ ...expected, findings });
      expect(contents()).toBeUndefined();
    },
  );

  test.each(cases)("$name: fails nothing that runs with it", async ({ given }) => {
    await pass();
    await runs();
    given();
    expect(await pass({ isCheckDue: true })).toMatchObject({ state: "done" });
    expect([held(), status.pullSecret]).toEqual(["reader:one", MADE]);
    // It is deleted: its pods keep running, and it is restored when that is possible.
    await cluster.remove(environmentFixture().metadata, secretKind, ref);
    expect(await pass({ isCheckDue: true })).toMatchObject({ state: "done" });
    expect([held(), status.pullSecret]).toEqual([undefined, MADE]);
    secretManager.setReachable(true);
    store("reader:two");
    named("shop");
    await pass({ isCheckDue: true });
    expect(held()).toBe("reader:two");
  });

  test.each(cases)("$name: fails nothing that ran without it, without a read of the cluster", async ({ given }) => {
    await runs();
    given();
    const looks = cluster.looks(secretKind);
    expect(await pass()).toMatchObject({ state: "done" });
    expect([status.pullSecret, cluster.looks(secretKind) - looks]).toEqual([undefined, 0]);
  });

  test("keeps no other one from what is new", async () => {
    secretManager.share({ id: "other", labels: {}, values: ["other:one"] });
    const web = { type: "frontend" as const, image: { repository: "other.test/shop-web" } };
    repositories.put(repositoryFixture("shop-web", { ...web, imagePullSecretRef: { name: "other", key: "latest" } }));
    spec = { frontend: { repository: "shop-web", branch: "main" } };
    await pass();
    secretManager.share({ id: "other", labels: {}, values: ["other:two"] });
    gone();
    await pass({ isCheckDue: true });
    expect(contents()).toEqual({ "registry.test": "reader:one", "other.test": "other:two" });
  });

  test("keeps the result of what failed before it", async () => {
    named("other");
    const refusal = failed("RotationUnknown", "X: no variable");
    expect(await pass({ result: refusal })).toEqual(refusal);
  });

  test("does not lose the findings of the pods' Secret when its name is taken", async () => {
    const other = { name: "else", uid: "00000000-0000-4000-8000-000000000000" };
    await cluster.ensure(other, secretKind, { ...{ apiVersion: "v1", kind: "Secret" }, metadata: ref });
    const findings = { podSecrets };
    const ended = await pass({ result: done("Mirrored", { findings }) });
    expect(ended).toMatchObject({ state: "failed", reason: "NameTaken", findings });
  });

  test("does not lose them for a transient error", async () => {
    const findings = { podSecrets };
    const cause = new Error("the connection broke");
    cluster.ensure = async () => {
      throw cause;
    };
    const ended = await pass({ result: done("Mirrored", { findings }) });
    expect(ended).toMatchObject({ state: "waiting", reason: "Retrying", findings });
    expect("error" in ended && ended.error).toBe(cause);
  });
});
