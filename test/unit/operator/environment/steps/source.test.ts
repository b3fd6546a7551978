import { describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../../../config/settings.ts";
import type { EnvironmentSpec, EnvironmentStatus } from "../../../../../crds/environment/ephemeral-environment.ts";
import { RECONCILE_ANNOTATION } from "../../../../../crds/group.ts";
import type { RepositorySpec } from "../../../../../crds/repository/repository.ts";
import type { Sensitive } from "../../../../../crds/sensitive.ts";
import type { StepContext } from "../../../../../operator/environment/step.ts";
import { source } from "../../../../../operator/environment/steps/source.ts";
import { CredentialRejected } from "../../../../../operator/ports/repository-host.ts";
import { memoryRepositories } from "../../../../support/doubles/memory/repositories.ts";
import { memorySecretManager } from "../../../../support/doubles/memory/secret-manager.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import {
  commitA,
  environmentFixture,
  minutesLater,
  pipelineFixture,
  repositoryFixture,
} from "../../../../support/fixtures/environment-fixture.ts";
import { testSettings } from "../../../../support/fixtures/test-settings.ts";

const commitB = "b".repeat(40);
const HEAD = "f".repeat(40);

interface Scene {
  readonly spec?: Partial<EnvironmentSpec>;
  /** What was settled before, by commit; on `main` unless said otherwise. */
  readonly before?: {
    readonly resolved?: string;
    readonly applied?: string;
    readonly branch?: string;
    readonly asked?: string;
  };
  readonly minutes?: number;
  readonly token?: string;
  /** `<branch>@<commit>` that the application carries. */
  readonly carried?: string;
  readonly registered?: readonly string[];
  /** What the Repositories say beside what all say. */
  readonly repository?: Partial<RepositorySpec>;
  /** Whether the git host refuses everyone. */
  readonly isClosed?: boolean;
}

const hostCredentials = [{ id: "shop", hosts: ["git.test"] }];
const settings = settingsFrom({ ...testSettings, secrets: { hostCredentials } });
const credentialsRef = { name: "shop", key: "latest" };
const backend = (more: object) => ({ backend: { repository: "shop-api", branch: "main", ...more } });
const imageOf = (commit: string) => `registry.test/shop-api:${commit}`;

function statusOf({ resolved, applied, branch = "main", asked }: NonNullable<Scene["before"]>): EnvironmentStatus {
  const given = applied && { branch, commit: applied, image: imageOf(applied) };
  return {
    sources: {
      backend: {
        ...(resolved ? { resolved: { branch, commit: resolved, ...(asked ? { asked } : {}) } } : {}),
        ...(given ? { applied: given } : {}),
      },
    },
  };
}

async function step(scene: Scene) {
  const { spec = {}, before, minutes = 0, token, carried, registered = ["shop-api"], repository } = scene;
  const asked: string[] = [];
  const secretManager = memorySecretManager();
  secretManager.share({ id: "shop", labels: {}, values: ["reader:word"] });
  const environment = environmentFixture({
    spec,
    ...(before ? { status: statusOf(before) } : {}),
    metadata: { annotations: token === undefined ? {} : { [RECONCILE_ANNOTATION]: token } },
  });
  const [branch = "", commit = ""] = carried?.split("@") ?? [];
  const context = {
    clock: new TestClock(minutesLater(minutes).toISOString()),
    deployer: { deployedSources: () => (carried ? { backend: { branch, commit } } : {}) },
    repositories: memoryRepositories(...registered.map((name) => repositoryFixture(name, repository))),
    ...{ settings, secretManager },
    repositoryHost: {
      async head(_url: string, of: string, credential?: Sensitive) {
        asked.push(credential === undefined ? of : `${of} as ${credential.reveal()}`);
        if (scene.isClosed) throw new CredentialRejected("renew it");
        return of === "gone" ? undefined : HEAD;
      },
    },
  } as unknown as StepContext;
  const result = await source.run(environment, context);
  const found = result.findings?.sources?.backend ?? environment.status?.sources?.backend;
  return { result, asked, found, stands: source.continueWithPrevious?.(environment, context) };
}

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
      { spec: backend({ follow: true }), before: { resolved: commitA, asked: "answered" }, token: "answered" },
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
    const { result, asked: answers, found } = await step(scene);
    expect(result).toMatchObject({ state: "done", reason: "Resolved" });
    expect(answers).toEqual(questions);
    const branch = scene.spec?.backend?.branch ?? "main";
    const { follow, commit: requested } = scene.spec?.backend ?? {};
    const resolved = { branch, commit, ...(follow ? { asked: scene.token } : {}) };
    expect(found).toEqual({
      ...(requested ? {} : { resolved }),
      applied: { branch, commit, image: imageOf(commit) },
    });
  });

  test("is asked with the credential of its Repository, and with none that is another host's", async () => {
    const { asked } = await step({ spec: backend({}), repository: { credentialsRef } });
    expect(asked).toEqual(["main as reader:word"]);
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
      ...{ spec: backend({ follow: true }), before: { resolved: commitA, applied: commitA }, token: "new" },
      repository: { credentialsRef: { name: "nobodys", key: "latest" } },
    };
    const { result, asked, found, stands } = await step(scene);
    expect(result).toMatchObject({ state: "waiting", reason: "CredentialNotBound", requeueAfterMs: 30_000 });
    expect({ asked, stands, found }).toEqual({
      asked: [],
      stands: true,
      found: scene.before && statusOf(scene.before).sources?.backend,
    });
  });

  test("that is followed is waited for while its host rejects the credential, and what is known stands", async () => {
    const scene: Scene = {
      ...{ spec: backend({ follow: true }), before: { resolved: commitA, applied: commitA }, token: "new" },
      ...{ repository: { credentialsRef }, isClosed: true },
    };
    const { result, asked, found, stands } = await step(scene);
    expect(result).toEqual({
      ...{ state: "waiting", reason: "CredentialRejected", message: "renew it" },
      requeueAfterMs: 300_000,
    });
    expect({ asked, stands, found }).toEqual({
      asked: ["main as reader:word"],
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

describe("a commit with a pipeline", () => {
  const wanted = (more: Parameters<typeof pipelineFixture>[0]) =>
    backend({ commit: commitB, pipeline: pipelineFixture({ commit: commitB, ...more }) });
  const before = { resolved: commitA, applied: commitA };

  test.each<[string, Scene, object, string | undefined]>([
    ["waits while it runs, the first time", { spec: wanted({}) }, { state: "waiting", reason: "Building" }, undefined],
    ["waits while it runs, and what was before stands", { spec: wanted({}), before }, { reason: "Building" }, commitA],
    [
      "is looked at again when its pipeline will have been silent for too long",
      { spec: wanted({}), before, minutes: 90 },
      { reason: "Building", requeueAfterMs: 30 * 60_000 },
      commitA,
    ],
    [
      "is deployed when the pipeline fell silent",
      { spec: wanted({}), before, minutes: 120 },
      { state: "done" },
      commitB,
    ],
    ["is deployed after its success", { spec: wanted({ status: "success" }), before }, { state: "done" }, commitB],
    [
      "fails with it",
      { spec: wanted({ status: "failed", url: "https://ci.test/7" }), before },
      {
        state: "failed",
        reason: "PipelineFailed",
        message: `pipeline 7 of g/shop failed for the backend's commit bbbbbbbb (https://ci.test/7): run it again, or request another commit`,
      },
      commitA,
    ],
    [
      "fails when it was canceled",
      { spec: wanted({ status: "canceled" }), before },
      { reason: "PipelineFailed" },
      commitA,
    ],
    [
      "is not held up by the failure of another one's",
      { spec: wanted({ status: "failed", commit: commitA }), before },
      { state: "done" },
      commitB,
    ],
    [
      "is not held up by the building of another one",
      { spec: wanted({ commit: commitA }), before },
      { state: "done" },
      commitB,
    ],
  ])("%s", async (_rule, scene, expected, applied) => {
    const { result, found } = await step(scene);
    expect(result).toMatchObject(expected);
    expect(found).not.toHaveProperty("resolved");
    expect(found?.applied?.commit).toBe(applied);
  });

  describe("of a branch that is followed", () => {
    const following = (more: Parameters<typeof pipelineFixture>[0]) =>
      backend({ follow: true, pipeline: pipelineFixture(more) });
    const pushed = { before: { resolved: commitA, applied: commitA }, token: "new" };

    test.each<[string, Scene, object, string | undefined]>([
      [
        "waits for its pipeline, and what was before stands",
        { ...pushed, spec: following({ commit: commitA, status: "success" }) },
        { state: "waiting", reason: "Building", message: "the backend's commit ffffffff waits for its pipeline" },
        commitA,
      ],
      [
        "waits for it also while another one is built",
        { ...pushed, spec: following({ commit: commitB }) },
        { state: "waiting", reason: "Building" },
        commitA,
      ],
      [
        "waits for it the first time",
        { spec: following({ commit: commitB, status: "success" }) },
        { state: "waiting", reason: "Building" },
        undefined,
      ],
      ["waits while it runs", { ...pushed, spec: following({ commit: HEAD }) }, { reason: "Building" }, commitA],
      [
        "is deployed after its success",
        { ...pushed, spec: following({ commit: HEAD, status: "success" }) },
        { state: "done" },
        HEAD,
      ],
      [
        "runs on, whatever is built beside it",
        { before: { resolved: commitA, applied: commitA }, spec: following({ commit: commitB }) },
        { state: "done" },
        commitA,
      ],
    ])("%s", async (_rule, scene, expected, applied) => {
      const { result, found } = await step(scene);
      expect(result).toMatchObject(expected);
      expect(found?.applied?.commit).toBe(applied);
    });
  });

  describe("of a pull request", () => {
    const trigger = { kind: "pull_request", provider: "", repository: "shop-api", number: 7 } as const;
    const wants = (more: object = {}) => ({ trigger, ...backend({ commit: commitB, ...more }) });
    const repository = { pipeline: {} };
    const success = pipelineFixture({ commit: commitB, status: "success" });

    test.each<[string, Scene, object]>([
      ["waits for the first report of its pipeline", { spec: wants(), repository }, { reason: "Building" }],
      [
        "waits for it also after another commit's",
        { spec: wants({ pipeline: pipelineFixture({ status: "success" }) }), repository },
        { reason: "Building" },
      ],
      ["waits for it for five minutes", { spec: wants(), repository, minutes: 5 }, { state: "done" }],
      ["is deployed after its success", { spec: wants({ pipeline: success }), repository }, { state: "done" }],
      ["waits for none that is not configured", { spec: wants() }, { state: "done" }],
      ["of a fork waits for none", { spec: wants({ branch: "refs/pull/7/head" }), repository }, { state: "done" }],
      ["runs on", { spec: wants(), repository, before: { applied: commitB } }, { state: "done" }],
      [
        "of a companion waits for none",
        { spec: { ...wants(), trigger: { ...trigger, repository: "shop-web" } }, repository },
        { state: "done" },
      ],
    ])("%s", async (_rule, scene, expected) => {
      expect((await step(scene)).result).toMatchObject(expected);
    });
  });

  test("is remembered while it is built, although the branch moves on", async () => {
    const spec = backend({ pipeline: pipelineFixture({ commit: HEAD }) });
    const { found } = await step({ spec });
    expect(found).toEqual({ resolved: { branch: "main", commit: HEAD } });
    const { asked, result } = await step({ spec, before: { resolved: HEAD } });
    expect(asked).toEqual([]);
    expect(result).toMatchObject({ reason: "Building" });
  });

  test("holds the other component back: what is wanted comes together", async () => {
    const frontend = { repository: "shop-web", branch: "main", commit: commitB };
    const building = { ...wanted({}), frontend };
    const web = repositoryFixture("shop-web", { type: "frontend" });
    const context = {
      clock: new TestClock(minutesLater(0).toISOString()),
      deployer: { deployedSources: () => ({}) },
      repositories: memoryRepositories(repositoryFixture(), web),
    } as unknown as StepContext;
    const { findings } = await source.run(environmentFixture({ spec: building }), context);
    expect(findings?.sources?.frontend).toEqual({});
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
