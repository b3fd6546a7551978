import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  buildOf,
  decidingPipeline,
  pipelineEnd,
  withPipeline,
  withPipelines,
} from "../../../../crds/environment/pipelines.ts";
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
    ["its cancellation, of the attempt before", { attempt: 2 }, { attempt: 1, status: "canceled" }, false],
    ["its success, of the attempt before", { attempt: 2 }, { attempt: 1, status: "success" }, false],
    ["its next attempt", { attempt: 1, status: "canceled" }, { attempt: 2 }, true],
    ["the same attempt", { attempt: 2 }, { attempt: 2, status: "failed" }, true],
    ["an earlier attempt of a newer pipeline", { attempt: 2 }, { id: 8, attempt: 1 }, true],
    ["an attempt after a report without one", {}, { attempt: 1, status: "failed" }, true],
    ["a report without an attempt", { attempt: 2 }, { status: "failed" }, true],
  ] as const)("%s", (_what, former, next, expected) => {
    const recorded = former === undefined ? [] : [pipelineFixture(former)];
    expect(withPipeline(recorded, pipelineFixture(next), undefined) !== undefined).toBe(expected);
  });

  test.each([
    {
      name: "not another commit's, while the wanted one is built",
      former: "running",
      commit: commitB,
      desired: commitA,
    },
    { name: "not another commit's, after the wanted one failed", former: "failed", commit: commitB, desired: commitA },
    { name: "another commit's, after the wanted one was built", former: "success", commit: commitB, desired: commitA },
    { name: "the wanted commit's next one", former: "running", commit: commitA, desired: commitA },
    { name: "that of a commit that is wanted from now on", former: "running", commit: commitB, desired: commitB },
    { name: "any, while no commit is named", former: "running", commit: commitB, desired: undefined },
  ] as const)("may replace the one before: $name", ({ name, former: status, commit, desired }) => {
    const expected = !name.startsWith("not");
    const recorded = [pipelineFixture({ status })];
    expect(withPipeline(recorded, pipelineFixture({ id: 8, commit }), desired) !== undefined).toBe(expected);
  });
});

describe("the pipelines of several workflows", () => {
  const build = pipelineFixture({ workflow: "build.yml", id: 7 });
  const lint = pipelineFixture({ workflow: "lint.yml", id: 8 });

  test.each([
    ["stand beside each other", [build], lint, [build, lint]],
    ["stand beside each other, the older one last", [lint], build, [lint, build]],
    ["give way to a newer run of their own workflow", [build, lint], { ...build, id: 9 }, [lint, { ...build, id: 9 }]],
    ["do not give way to an older run of their own workflow", [build, lint], { ...build, id: 6 }, undefined],
    [
      "give way together to another commit's",
      [build, { ...lint, commit: commitB }].map((one) => ({ ...one, status: "success" as const })),
      { ...build, id: 9, commit: commitB },
      [
        { ...lint, commit: commitB, status: "success" as const },
        { ...build, id: 9, commit: commitB },
      ],
    ],
  ])("%s", (_what, former, next, expected) => {
    expect(withPipeline(former, next, undefined)).toEqual(expected);
  });

  test("stay while one of the wanted commit has not succeeded, whatever another commit's does", () => {
    const former = [{ ...build, status: "success" as const }, lint];
    const other = pipelineFixture({ workflow: "lint.yml", id: 9, commit: commitB });
    expect(withPipeline(former, other, commitA)).toBeUndefined();
    expect(withPipeline([build, { ...lint, status: "success" }], { ...other, workflow: "build.yml" }, commitA)).toBe(
      undefined,
    );
    const built = former.map((one) => ({ ...one, status: "success" as const }));
    expect(withPipeline(built, other, commitA)).toEqual([other]);
  });

  const report = fc.record({
    workflow: fc.constantFrom("", "build.yml", "lint.yml", "e2e.yml"),
    id: fc.integer({ min: 1, max: 6 }),
    status: fc.constantFrom("running", "success", "failed", "canceled"),
  });

  test("are the newest run of each workflow, in whatever order their reports arrive", () => {
    fc.assert(
      fc.property(fc.array(report, { maxLength: 20 }), (reports) => {
        const recorded = withPipelines([], reports.map(pipelineFixture), commitA);
        const workflows = [...new Set(reports.map(({ workflow }) => workflow))];
        const newest = workflows.map((workflow) => {
          const ids = reports.filter((one) => one.workflow === workflow).map(({ id }) => id);
          return { workflow, id: Math.max(...ids) };
        });
        const byWorkflow = (one: { workflow: string }, other: { workflow: string }) =>
          one.workflow < other.workflow ? -1 : 1;
        expect(recorded.map(({ workflow, id }) => ({ workflow, id })).toSorted(byWorkflow)).toEqual(
          newest.toSorted(byWorkflow),
        );
        for (const { workflow, id, status } of recorded) {
          const said = reports.filter((one) => one.workflow === workflow && one.id === id).map((one) => one.status);
          expect(said).toContain(status);
          if (said.includes("success")) expect(status).toBe("success");
        }
      }),
    );
  });

  test("have one that decides: what failed, else what was canceled, else what runs, else the newest success", () => {
    const order = ["failed", "canceled", "running", "success"] as const;
    fc.assert(
      fc.property(fc.array(report, { minLength: 1, maxLength: 6 }), (reports) => {
        const pipelines = reports.map(pipelineFixture);
        const expected = order.find((status) => pipelines.some((one) => one.status === status));
        const deciding = decidingPipeline(pipelines);
        expect(deciding?.status).toBe(expected);
        expect(decidingPipeline(pipelines.toReversed())).toMatchObject({ status: expected, id: deciding?.id });
      }),
    );
    expect(decidingPipeline([])).toBeUndefined();
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
