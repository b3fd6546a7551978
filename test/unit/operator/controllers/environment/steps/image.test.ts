import { describe, expect, test } from "@jest/globals";
import { pipelineFixture } from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { backend, commitB, type Scene, step } from "./source-step.ts";

const tagged = (tagTemplate: string) => ({ image: { repository: "registry.test/shop-api", tagTemplate } });
const pullRequest = { kind: "pull_request", provider: "", repository: "shop-api", number: 7 } as const;
const built = (...workflows: string[]) =>
  backend({
    commit: commitB,
    pipelines: workflows.map((workflow, index) =>
      pipelineFixture({ commit: commitB, status: "success", workflow, id: 1001 + index }),
    ),
  });

describe("the image of a component", () => {
  test.each<[string, Scene, string]>([
    [
      "of a pull request",
      { spec: { ...backend({ commit: commitB }), trigger: pullRequest }, repository: tagged("pr-{pullRequest}") },
      "pr-7",
    ],
    ["of the one pipeline that built it", { spec: built(""), repository: tagged("build-{pipeline}") }, "build-1001"],
  ])("%s has its tag", async (_name, scene, tag) => {
    const { result, found } = await step(scene);
    expect(result).toMatchObject({ state: "done" });
    expect(found?.applied?.image).toBe(`registry.test/shop-api:${tag}`);
  });

  const before = { applied: "a".repeat(40) };

  test.each<[string, Scene, object]>([
    [
      "has no tag of a pull request without one",
      { spec: backend({ commit: commitB }), repository: tagged("pr-{pullRequest}") },
      {
        state: "failed",
        reason: "ImageInvalid",
        message:
          "image.tagTemplate 'pr-{pullRequest}' of Repository 'shop-api' stands for a pull request, and the backend of this environment is not that of one: use {branch} or {commit}, which every environment has",
      },
    ],
    [
      "has no tag of another Repository's pull request",
      {
        spec: { ...backend({ commit: commitB }), trigger: { ...pullRequest, repository: "shop-web" } },
        repository: tagged("pr-{pullRequest}"),
      },
      { state: "failed", reason: "ImageInvalid" },
    ],
    [
      "waits for the report of its pipeline",
      { spec: backend({ commit: commitB }), repository: tagged("{pipeline}") },
      {
        state: "waiting",
        reason: "ImageUnknown",
        message:
          "image.tagTemplate '{pipeline}' of Repository 'shop-api' stands for the pipeline that builds the backend's commit bbbbbbbb, and none was reported: run it, or check the Repository's webhook",
      },
    ],
    [
      "has no tag of one of several pipelines",
      { spec: built("build.yml", "lint.yml"), repository: tagged("{pipeline}") },
      {
        state: "failed",
        reason: "ImageInvalid",
        message:
          "image.tagTemplate '{pipeline}' of Repository 'shop-api' stands for one pipeline, and the backend's commit bbbbbbbb has several: 1001 (build.yml), 1002 (lint.yml); name the one that builds the image in pipeline.workflows of the Repository",
      },
    ],
    [
      "has no tag that is too long",
      { spec: backend({ commit: commitB, branch: "b".repeat(129) }), repository: tagged("{branch}") },
      { state: "failed", reason: "ImageInvalid" },
    ],
    [
      "waits for its build before the words about its tag",
      {
        spec: backend({ commit: commitB, pipelines: [pipelineFixture({ commit: commitB })] }),
        repository: tagged("{mergeCommit}"),
      },
      { state: "waiting", reason: "Building" },
    ],
  ])("%s, and the former one runs on", async (_name, scene, expected) => {
    const { result, found } = await step({ ...scene, before });
    expect(result).toMatchObject(expected);
    expect(found?.applied?.commit).toBe(before.applied);
  });
});
