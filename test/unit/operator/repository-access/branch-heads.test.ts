import { describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../../config/settings.ts";
import { HostUnavailable, SecretsUnavailable } from "../../../../crds/errors.ts";
import type { Repository } from "../../../../crds/repository/repository.ts";
import { CredentialRejected, RepositoryHostUnavailable } from "../../../../operator/ports/repository-host.ts";
import { SecretManagerUnavailable } from "../../../../operator/ports/secret-manager.ts";
import { createBranchHeads } from "../../../../operator/repository-access/branch-heads.ts";
import { memorySecretManager } from "../../../support/doubles/memory/secret-manager.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";
import { commitA, repositoryFixture } from "../../../support/fixtures/environment/environment-fixture.ts";
import { testSettings } from "../../../support/fixtures/test-settings.ts";

const secrets = { hostCredentials: [{ id: "shop", hosts: ["git.test"] }] };
const settings = settingsFrom({ ...testSettings, secrets });
const repository = repositoryFixture("shop-api", { cloneUrl: "https://git.test/shop.git" });

function given(answer: () => Promise<string | undefined>) {
  const clock = new TestClock("2026-06-01T12:00:00Z");
  const requested: string[] = [];
  const repositoryHost = {
    head: (url: string, branch: string) => {
      requested.push(`${url}#${branch}`);
      return answer();
    },
  };
  const secretManager = memorySecretManager();
  const heads = createBranchHeads({ settings, secretManager, repositoryHost, clock });
  const refusal = (of: Repository = repository) => heads.headOf(of, "main").catch((error: unknown) => error);
  return { heads, refusal, clock, requests: requested };
}

const failing = (error: Error) => () => Promise.reject(error);

describe("the head of a branch (abuse 110: no caller has a host asked without end)", () => {
  test.each([
    ["that can't be reached", new RepositoryHostUnavailable("no answer"), 5_000],
    ["that rejects the login", new CredentialRejected("401"), 60_000],
  ])("of a host %s is not asked for again before its time", async (_what, error, pauseMs) => {
    const { refusal, clock, requests: requested } = given(failing(error));
    expect(await refusal()).toBeInstanceOf(HostUnavailable);
    clock.advance(pauseMs - 1_000);
    expect(await refusal()).toMatchObject({ retryAfterSeconds: 1 });
    expect(requested).toHaveLength(1);
    clock.advance(1_000);
    await refusal();
    expect(requested).toHaveLength(2);
  });

  test("is asked for at once where the Repository was changed meanwhile, and of other Repositories", async () => {
    const { refusal, requests: requested } = given(failing(new RepositoryHostUnavailable("no answer")));
    const { metadata } = repository;
    await refusal();
    await refusal({ ...repository, metadata: { ...metadata, generation: metadata.generation + 1 } });
    await refusal({ ...repository, metadata: { ...metadata, uid: "another" } });
    expect(requested).toHaveLength(3);
  });

  describe("is asked for by sixteen at once, and the next gets a retry", () => {
    const named = (uid: string, host: string) => {
      const made = repositoryFixture(uid, { cloneUrl: `https://${host}/${uid}.git` });
      return { ...made, metadata: { ...made.metadata, uid } };
    };
    /** A host that answers when the test says so, and its pending requests. */
    const silent = () => {
      const answers: ((commit: string) => void)[] = [];
      const world = given(() => new Promise((resolve) => answers.push(resolve)));
      const waiting: Promise<string | undefined>[] = [];
      const ask = (of: Repository, times = 1) => {
        for (let at = 0; at < times; at += 1) waiting.push(world.heads.headOf(of, `b${at}`));
      };
      const answerAll = async () => {
        await Promise.resolve();
        for (const answer of answers.splice(0)) answer(commitA);
        return Promise.all(waiting.splice(0));
      };
      return { ...world, ask, answerAll };
    };

    test("in all", async () => {
      const { ask, refusal, answerAll, requests: requested } = silent();
      for (const at of [1, 2, 3, 4]) ask(named(`repository-${at}`, `git-${at}.test`), 4);
      expect(await refusal(named("another", "another.test"))).toMatchObject({ retryAfterSeconds: 1 });
      expect(requested).toHaveLength(16);
      expect(new Set(await answerAll())).toEqual(new Set([commitA]));
      ask(named("another", "another.test"));
      expect(await answerAll()).toEqual([commitA]);
    });

    test("abuse case 119: four of them for one Repository, so that the others are still asked about", async () => {
      const { ask, refusal, answerAll } = silent();
      const one = named("one", "git.test");
      ask(one, 4);
      expect(await refusal(one)).toMatchObject({ retryAfterSeconds: 1 });
      ask(named("two", "git.test"));
      expect(await answerAll()).toHaveLength(5);
      ask(one);
      expect(await answerAll()).toEqual([commitA]);
    });

    test("abuse case 119: eight of them for one host, however many Repositories it has", async () => {
      const { ask, refusal, answerAll } = silent();
      for (const at of [1, 2, 3, 4]) ask(named(`silent-${at}`, "SILENT.test"), 2);
      expect(await refusal(named("silent-5", "silent.test"))).toMatchObject({ retryAfterSeconds: 1 });
      ask(named("other", "git.test"));
      expect(await answerAll()).toHaveLength(9);
    });

    test("and a question that fails gives its place back", async () => {
      const { heads, clock } = given(failing(new RepositoryHostUnavailable("no answer")));
      for (let at = 0; at < 20; at += 1) {
        await expect(heads.headOf(repository, "main")).rejects.toMatchObject({ retryAfterSeconds: 5 });
        clock.advance(5_000);
      }
    });
  });

  test("is not asked for without the credential that the Repository names", async () => {
    const { refusal, requests: requested } = given(async () => commitA);
    const credentialsRef = { name: "other", key: "latest" };
    const unbound = repositoryFixture("shop-api", { ...repository.spec, credentialsRef });
    expect(await refusal(unbound)).toBeInstanceOf(HostUnavailable);
    expect(requested).toEqual([]);
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
