import { describe, expect, test } from "@jest/globals";
import { source } from "../../../../../../operator/controllers/environment/steps/source.ts";
import { memoryRepositories } from "../../../../../support/doubles/memory/repositories.ts";
import { stepContext, stepDependencies } from "../../../../../support/doubles/step-dependencies.ts";
import { TestClock } from "../../../../../support/doubles/test-clock.ts";
import {
  commitA,
  environmentFixture,
  minutesLater,
  pipelineFixture,
  repositoryFixture,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { backend, commitB, HEAD, type Scene, step } from "./source-step.ts";

describe("a commit with a pipeline", () => {
  const specWith = (more: Parameters<typeof pipelineFixture>[0]) =>
    backend({ commit: commitB, pipelines: [pipelineFixture({ commit: commitB, ...more })] });
  const before = { resolved: commitA, applied: commitA };

  test.each<[string, Scene, object, string | undefined]>([
    [
      "waits while it runs, the first time",
      { spec: specWith({}) },
      { state: "waiting", reason: "Building" },
      undefined,
    ],
    [
      "waits while it runs, and what was before stands",
      { spec: specWith({}), before },
      { reason: "Building" },
      commitA,
    ],
    [
      "is looked at again when its pipeline will have been silent for too long",
      { spec: specWith({}), before, minutes: 90 },
      { reason: "Building", requeueAfterMs: 30 * 60_000 },
      commitA,
    ],
    [
      "is deployed when the pipeline fell silent",
      { spec: specWith({}), before, minutes: 120 },
      { state: "done" },
      commitB,
    ],
    ["is deployed after its success", { spec: specWith({ status: "success" }), before }, { state: "done" }, commitB],
    [
      "fails with it",
      { spec: specWith({ status: "failed", url: "https://ci.test/7" }), before },
      {
        state: "failed",
        reason: "PipelineFailed",
        message: `pipeline 7 of g/shop failed for the backend's commit bbbbbbbb (https://ci.test/7): run it again, or request another commit`,
      },
      commitA,
    ],
    [
      "fails when it was canceled",
      { spec: specWith({ status: "canceled" }), before },
      { reason: "PipelineFailed" },
      commitA,
    ],
    [
      "is not held up by the failure of another one's",
      { spec: specWith({ status: "failed", commit: commitA }), before },
      { state: "done" },
      commitB,
    ],
    [
      "is not held up by the building of another one",
      { spec: specWith({ commit: commitA }), before },
      { state: "done" },
      commitB,
    ],
  ])("%s", async (_rule, scene, expected, applied) => {
    const { result, found } = await step(scene);
    expect(result).toMatchObject(expected);
    expect(found).not.toHaveProperty("resolved");
    expect(found?.applied?.commit).toBe(applied);
  });

  const workflows = (...statuses: ("running" | "success" | "failed" | "canceled")[]) =>
    backend({
      commit: commitB,
      pipelines: statuses.map((status, index) =>
        pipelineFixture({ commit: commitB, workflow: `${index}.yml`, id: 10 - index, status }),
      ),
    });

  test.each<[string, ReturnType<typeof workflows>, object]>([
    ["waits for the one that runs", workflows("success", "running"), { reason: "Building" }],
    ["fails with the one that failed", workflows("success", "failed"), { reason: "PipelineFailed" }],
    ["fails with it while another one runs", workflows("running", "failed"), { reason: "PipelineFailed" }],
    ["fails with the one that was canceled", workflows("canceled", "success"), { reason: "PipelineFailed" }],
    ["is deployed when all have succeeded", workflows("success", "success"), { state: "done" }],
  ])("of several workflows %s", async (_rule, spec, expected) => {
    expect((await step({ spec, before })).result).toMatchObject(expected);
  });

  test("names the workflow that failed", async () => {
    const { result } = await step({ spec: workflows("success", "failed"), before });
    expect(result).toMatchObject({ message: expect.stringMatching(/^pipeline 9 of g\/shop \(1[.]yml\) failed/) });
  });

  describe("of a branch that is followed", () => {
    const following = (more: Parameters<typeof pipelineFixture>[0]) =>
      backend({ follow: true, pipelines: [pipelineFixture(more)] });
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
        { spec: wants({ pipelines: [pipelineFixture({ status: "success" })] }), repository },
        { reason: "Building" },
      ],
      ["waits for it for five minutes", { spec: wants(), repository, minutes: 5 }, { state: "done" }],
      ["is deployed after its success", { spec: wants({ pipelines: [success] }), repository }, { state: "done" }],
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
    const spec = backend({ pipelines: [pipelineFixture({ commit: HEAD })] });
    const { found } = await step({ spec });
    expect(found).toEqual({ resolved: { branch: "main", commit: HEAD } });
    const { requested, result } = await step({ spec, before: { resolved: HEAD } });
    expect(requested).toEqual([]);
    expect(result).toMatchObject({ reason: "Building" });
  });

  test("holds the other component back: what is wanted comes together", async () => {
    const frontend = { repository: "shop-web", branch: "main", commit: commitB };
    const building = { ...specWith({}), frontend };
    const web = repositoryFixture("shop-web", { type: "frontend" });
    const { run } = source(
      stepDependencies({
        clock: new TestClock(minutesLater(0).toISOString()),
        deployer: { deployedSources: () => ({}) },
        repositories: memoryRepositories(repositoryFixture(), web),
      }),
    );
    const { findings } = await run(environmentFixture({ spec: building }), stepContext());
    expect(findings?.sources?.frontend).toEqual({});
  });
});
