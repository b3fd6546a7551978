import { describe, expect, test } from "@jest/globals";
import { CredentialRejected } from "../../../../../../operator/ports/repository-host.ts";
import { commitA } from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { backend, commitB, HEAD, imageOf, type Scene, statusOf, step } from "./source-step.ts";

const credentialsRef = { name: "shop", key: "latest" };

describe("the commit of a component", () => {
  test.each<[string, Scene, string, readonly string[]]>([
    ["is the one asked for", { spec: backend({ commit: commitB }) }, commitB, []],
    ["is the head of the branch, when none is", { spec: backend({}) }, HEAD, ["main"]],
    ["stays the head that it was", { spec: backend({}), before: { resolved: commitA } }, commitA, []],
    [
      "is the head of another branch, asked once",
      { spec: backend({ branch: "next" }), before: { resolved: commitA } },
      HEAD,
      ["next"],
    ],
    [
      "is the head of the branch, when one is asked for no longer",
      { spec: backend({}), before: { applied: commitB }, carried: `main@${commitB}` },
      HEAD,
      ["main"],
    ],
    ["is what a crash left in the application", { spec: backend({}), carried: `main@${commitB}` }, commitB, []],
    [
      "is what a crash left in the application of another branch",
      { spec: backend({ branch: "next" }), before: { resolved: commitA }, carried: `next@${commitB}` },
      commitB,
      [],
    ],
    [
      "is not what the application carries of a branch before",
      { spec: backend({}), carried: `old@${commitB}` },
      HEAD,
      ["main"],
    ],
    [
      "stays when a reconcile is requested and it does not follow",
      { spec: backend({}), before: { resolved: commitA }, token: "new" },
      commitA,
      [],
    ],
    [
      "is read again for one that follows, when a reconcile is requested",
      { spec: backend({ follow: true }), before: { resolved: commitA }, token: "new" },
      HEAD,
      ["main"],
    ],
    [
      "is not read again when that request was answered",
      { spec: backend({ follow: true }), before: { resolved: commitA, requests: "answered" }, token: "answered" },
      commitA,
      [],
    ],
    [
      "is not asked again when one is given",
      { spec: backend({ follow: true, commit: commitB }), before: { resolved: commitA }, token: "new" },
      commitB,
      [],
    ],
    [
      "stays for one that follows a branch which is gone",
      { spec: backend({ follow: true, branch: "gone" }), before: { resolved: commitA, branch: "gone" }, token: "new" },
      commitA,
      ["gone"],
    ],
  ])("%s", async (_rule, scene, commit, questions) => {
    const { result, requested: answers, found } = await step(scene);
    expect(result).toMatchObject({ state: "done", reason: "Resolved" });
    expect(answers).toEqual(questions);
    const branch = scene.spec?.backend?.branch ?? "main";
    const { follow, commit: requests } = scene.spec?.backend ?? {};
    const resolved = { branch, commit, ...(follow ? { reconcileToken: scene.token } : {}) };
    expect(found).toEqual({
      ...(requests ? {} : { resolved }),
      applied: { branch, commit, image: imageOf(commit) },
    });
  });

  test("is asked with the credential of its Repository, and with none that is another host's", async () => {
    const { requested: requests } = await step({ spec: backend({}), repository: { credentialsRef } });
    expect(requests).toEqual(["main as reader:word"]);
    const cloneUrl = "https://evil.test/shop.git";
    const refused = step({ spec: backend({}), repository: { credentialsRef, cloneUrl } });
    await expect(refused).rejects.toMatchObject({ reason: "CredentialNotBound" });
  });

  test("that is known asks for no credential", async () => {
    const repository = { credentialsRef: { name: "nobodys", key: "latest" } };
    const { result } = await step({ spec: backend({}), before: { resolved: commitA }, repository });
    expect(result).toMatchObject({ state: "done" });
  });

  test("that is followed is waited for while its credential is refused, and what is known stands", async () => {
    const scene: Scene = {
      spec: backend({ follow: true }),
      before: { resolved: commitA, applied: commitA },
      token: "new",
      repository: { credentialsRef: { name: "nobodys", key: "latest" } },
    };
    const { result, requested: requests, found, stands } = await step(scene);
    expect(result).toMatchObject({ state: "waiting", reason: "CredentialNotBound", requeueAfterMs: 30_000 });
    expect({ requests, stands, found }).toEqual({
      requests: [],
      stands: true,
      found: scene.before && statusOf(scene.before).sources?.backend,
    });
  });

  test("that is followed is waited for while its host rejects the credential, and what is known stands", async () => {
    const scene: Scene = {
      spec: backend({ follow: true }),
      before: { resolved: commitA, applied: commitA },
      token: "new",
      repository: { credentialsRef },
      isClosed: true,
    };
    const { result, requested: requests, found, stands } = await step(scene);
    expect(result).toEqual({
      state: "waiting",
      reason: "CredentialRejected",
      message: "renew it",
      requeueAfterMs: 3e5,
    });
    expect({ requests, stands, found }).toEqual({
      requests: ["main as reader:word"],
      stands: true,
      found: scene.before && statusOf(scene.before).sources?.backend,
    });
  });

  test("of which nothing is known can't be had while the host rejects the credential", async () => {
    const rejected = step({ spec: backend({}), repository: { credentialsRef }, isClosed: true });
    await expect(rejected).rejects.toBeInstanceOf(CredentialRejected);
  });

  test("is looked for on when its branch is not there", async () => {
    const { result } = await step({ spec: backend({ branch: "gone" }) });
    expect(result).toMatchObject({ state: "failed", reason: "BranchNotFound", requeueAfterMs: 30_000 });
  });
});

describe("what was applied before", () => {
  test.each<[string, Scene, boolean]>([
    ["stands", { before: { applied: commitA } }, true],
    ["does not, when there is nothing", {}, false],
    ["does not, when nothing can be said about it", { before: { applied: commitA }, registered: [] }, false],
  ])("%s", async (_rule, scene, expected) => {
    expect((await step(scene)).stands).toBe(expected);
  });
});
