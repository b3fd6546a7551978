import { describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../../config/settings.ts";
import { HostUnavailable, SecretsUnavailable } from "../../../../crds/errors.ts";
import type { Repository } from "../../../../crds/repository/repository.ts";
import { CredentialRejected, RepositoryHostUnavailable } from "../../../../operator/ports/repository-host.ts";
import { SecretManagerUnavailable } from "../../../../operator/ports/secret-manager.ts";
import { createBranchHeads } from "../../../../operator/repository/branch-heads.ts";
import { memorySecretManager } from "../../../support/doubles/memory/secret-manager.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";
import { commitA, repositoryFixture } from "../../../support/fixtures/environment/environment-fixture.ts";
import { testSettings } from "../../../support/fixtures/test-settings.ts";

const secrets = { hostCredentials: [{ id: "shop", hosts: ["git.test"] }] };
const settings = settingsFrom({ ...testSettings, secrets });
const repository = repositoryFixture("shop-api", { cloneUrl: "https://git.test/shop.git" });

/** Branch heads over a host that answers as a test says, and notes what it was asked. */
function given(answer: () => Promise<string | undefined>) {
  const clock = new TestClock("2026-06-01T12:00:00Z");
  const asked: string[] = [];
  const repositoryHost = {
    head: (url: string, branch: string) => {
      asked.push(`${url}#${branch}`);
      return answer();
    },
  };
  const secretManager = memorySecretManager();
  const heads = createBranchHeads({ settings, secretManager, repositoryHost, clock });
  const refusal = (of: Repository = repository) => heads.headOf(of, "main").catch((error: unknown) => error);
  return { heads, refusal, clock, asked };
}

const failing = (error: Error) => () => Promise.reject(error);

describe("the head of a branch (abuse 110: no caller has a host asked without end)", () => {
  test.each([
    ["that can't be reached", new RepositoryHostUnavailable("no answer"), 5_000],
    ["that rejects the login", new CredentialRejected("401"), 60_000],
  ])("of a host %s is not asked for again before its time", async (_what, error, pauseMs) => {
    const { refusal, clock, asked } = given(failing(error));
    expect(await refusal()).toBeInstanceOf(HostUnavailable);
    clock.advance(pauseMs - 1_000);
    expect(await refusal()).toMatchObject({ retryAfterSeconds: 1 });
    expect(asked).toHaveLength(1);
    clock.advance(1_000);
    await refusal();
    expect(asked).toHaveLength(2);
  });

  test("is asked for at once where the Repository was changed meanwhile, and of other Repositories", async () => {
    const { refusal, asked } = given(failing(new RepositoryHostUnavailable("no answer")));
    const { metadata } = repository;
    await refusal();
    await refusal({ ...repository, metadata: { ...metadata, generation: metadata.generation + 1 } });
    await refusal({ ...repository, metadata: { ...metadata, uid: "another" } });
    expect(asked).toHaveLength(3);
  });

  test("is asked for by sixteen at once, and the next is told to come again", async () => {
    const answers: ((commit: string) => void)[] = [];
    const { heads, refusal, asked } = given(() => new Promise((resolve) => answers.push(resolve)));
    const waiting = Array.from({ length: 16 }, (_, at) => heads.headOf(repository, `b${at}`));
    expect(await refusal()).toMatchObject({ retryAfterSeconds: 1 });
    await Promise.resolve();
    expect(asked).toHaveLength(16);
    for (const answer of answers) answer(commitA);
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([commitA]));
    const next = heads.headOf(repository, "main");
    await Promise.resolve();
    answers.at(-1)?.(commitA);
    expect(await next).toBe(commitA);
  });

  test("is not asked for without the credential that the Repository names", async () => {
    const { refusal, asked } = given(async () => commitA);
    const credentialsRef = { name: "other", key: "latest" };
    const unbound = repositoryFixture("shop-api", { ...repository.spec, credentialsRef });
    expect(await refusal(unbound)).toBeInstanceOf(HostUnavailable);
    expect(asked).toEqual([]);
  });

  test("can't be asked for while the secret manager is away", async () => {
    const secretManager = { read: failing(new SecretManagerUnavailable("away")) };
    const repositoryHost = { head: failing(new Error("asked without a credential")) };
    const heads = createBranchHeads({ settings, secretManager, repositoryHost, clock: new TestClock() });
    const credentialsRef = { name: "shop", key: "latest" };
    const named = repositoryFixture("shop-api", { ...repository.spec, credentialsRef });
    await expect(heads.headOf(named, "main")).rejects.toBeInstanceOf(SecretsUnavailable);
  });

  test("fails as what it is where something unexpected happens", async () => {
    const { refusal } = given(failing(new TypeError("ours")));
    expect(await refusal()).toBeInstanceOf(TypeError);
  });
});
