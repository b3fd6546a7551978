import { describe, expect, test } from "@jest/globals";
import { buildOf, mayFollow, pipelineEnd } from "../../../../crds/environment/pipelines.ts";
import {
  CREATED,
  commitA,
  minutesLater,
  pipelineFixture,
} from "../../../support/fixtures/environment/environment-fixture.ts";

const commitB = "b".repeat(40);

describe("a report of a pipeline", () => {
  test.each([
    ["the first one", undefined, {}, true],
    ["the same once more", {}, {}, true],
    ["a newer pipeline of another commit", { id: 7 }, { id: 8, commit: commitB }, true],
    ["a newer pipeline after a success", { id: 7, status: "success" }, { id: 8, status: "running" }, true],
    ["an older pipeline", { id: 8 }, { id: 7, status: "success" }, false],
    ["an older id of another project", { id: 8 }, { id: 7, project: "g/other" }, true],
    ["success after running", { status: "running" }, { status: "success" }, true],
    ["failure after running", { status: "running" }, { status: "failed" }, true],
    ["cancellation after running", { status: "running" }, { status: "canceled" }, true],
    ["running after failure: it was run again", { status: "failed" }, { status: "running" }, true],
    ["running after cancellation: it was run again", { status: "canceled" }, { status: "running" }, true],
    ["success after failure: its second run was missed", { status: "failed" }, { status: "success" }, true],
    ["running after success", { status: "success" }, { status: "running" }, false],
    ["failure after success", { status: "success" }, { status: "failed" }, false],
    ["cancellation after success", { status: "success" }, { status: "canceled" }, false],
    ["success after success", { status: "success" }, { status: "success" }, true],
    ["another commit of the same pipeline", {}, { commit: commitB }, false],
  ] as const)("%s", (_what, former, next, expected) => {
    expect(mayFollow(pipelineFixture(next), former && pipelineFixture(former), undefined)).toBe(expected);
  });

  test.each([
    {
      name: "not another commit's, while the wanted one is built",
      former: "running",
      commit: commitB,
      wanted: commitA,
    },
    { name: "not another commit's, after the wanted one failed", former: "failed", commit: commitB, wanted: commitA },
    { name: "another commit's, after the wanted one was built", former: "success", commit: commitB, wanted: commitA },
    { name: "the wanted commit's next one", former: "running", commit: commitA, wanted: commitA },
    { name: "that of a commit that is wanted from now on", former: "running", commit: commitB, wanted: commitB },
    { name: "any, while no commit is named", former: "running", commit: commitB, wanted: undefined },
  ] as const)("may replace the one before: $name", ({ name, former: status, commit, wanted }) => {
    const expected = !name.startsWith("not");
    expect(mayFollow(pipelineFixture({ id: 8, commit }), pipelineFixture({ status }), wanted)).toBe(expected);
  });
});

describe("a commit", () => {
  test.each([
    ["is being built while its pipeline runs", "running", 119.9, "building"],
    ["is no longer waited for after two hours of silence", "running", 120, "silent"],
    ["is built", "success", 0, "built"],
    ["is not built when its pipeline failed", "failed", 0, "failed"],
    ["is not built when its pipeline was canceled", "canceled", 500, "failed"],
  ] as const)("%s", (_rule, status, minutes, expected) => {
    expect(buildOf(pipelineFixture({ status }), minutesLater(minutes))).toBe(expected);
  });

  test("may be deployed from the end of its pipeline, or of our patience", () => {
    expect(pipelineEnd(pipelineFixture({ status: "success" }))).toEqual(new Date(CREATED));
    expect(pipelineEnd(pipelineFixture({ status: "running", commit: commitA }))).toEqual(minutesLater(120));
  });
});
