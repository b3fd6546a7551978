import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { PipelineRules } from "../../../../../crds/repository/webhook-rules.schema.ts";
import { countedProblem } from "../../../../../operator/webhooks/pipeline/report.ts";

const BUILD = { workflow: ".github/workflows/build.yml", name: "Build image" };
const words = fc.stringMatching(/^[a-z_]{1,20}$/);
const file = fc.stringMatching(/^[a-z][a-z0-9-]{0,15}\.ya?ml$/);

describe("a run counts", () => {
  test.each<[string, string | undefined, PipelineRules["events"], boolean]>([
    ["of a push", "push", undefined, true],
    ["of a pull request", "pull_request", undefined, true],
    ["that a user started by hand", "workflow_dispatch", undefined, true],
    ["not of a comment (abuse 117)", "issue_comment", undefined, false],
    ["not of an issue", "issues", undefined, false],
    ["not of a workflow that runs in the name of the base branch", "pull_request_target", undefined, false],
    ["not of another run", "workflow_run", undefined, false],
    ["not of the host's own analyses", "dynamic", undefined, false],
    ["not of a timetable", "schedule", undefined, false],
    ["of a timetable, where the Repository names it", "schedule", ["schedule"], true],
    ["not of a push, where the Repository names others", "push", ["pull_request"], false],
    ["whose sender names no event: the contract's own body", undefined, undefined, true],
    ["whose sender names no event, whatever the Repository names", undefined, ["push"], true],
  ])("%s", (_what, event, events, expected) => {
    const rules = events === undefined ? {} : { events };
    expect(countedProblem({ ...BUILD, ...(event && { event }) }, rules) === undefined).toBe(expected);
  });

  test("whatever its workflow, where the Repository names none", () => {
    fc.assert(
      fc.property(fc.option(file, { nil: undefined }), (workflow) => {
        expect(countedProblem(workflow === undefined ? {} : { workflow }, undefined)).toBeUndefined();
      }),
    );
  });

  test("not of an event that is in no list, whatever its workflow", () => {
    const counted = new Set(["push", "pull_request", "workflow_dispatch"]);
    fc.assert(
      fc.property(
        words.filter((word) => !counted.has(word)),
        (event) => {
          expect(countedProblem({ ...BUILD, event }, { workflows: [BUILD.workflow] })?.rule).toBe("events");
        },
      ),
    );
  });

  test.each<[string, object, string, boolean]>([
    ["by its path", BUILD, ".github/workflows/build.yml", true],
    ["by its file", BUILD, "build.yml", true],
    ["by its name", BUILD, "Build image", true],
    [
      "by its path, of a host that reports the file alone",
      { workflow: "build.yml" },
      ".gitea/workflows/build.yml",
      true,
    ],
    ["not by another file", BUILD, "lint.yml", false],
    ["not by a part of the name", BUILD, "Build", false],
    ["not by the file of another folder", BUILD, ".github/other/build.yml", false],
    ["not by another spelling", BUILD, "BUILD.yml", false],
    ["not when it names none", {}, "build.yml", false],
  ])("where the Repository names its workflow: %s", (_what, run, named, expected) => {
    expect(countedProblem({ ...run, event: "push" }, { workflows: ["other.yml", named] }) === undefined).toBe(expected);
  });

  test("not of any workflow that the Repository does not name", () => {
    fc.assert(
      fc.property(file, fc.uniqueArray(file, { minLength: 1, maxLength: 5 }), (workflow, workflows) => {
        const problem = countedProblem({ workflow: `.github/workflows/${workflow}`, event: "push" }, { workflows });
        expect(problem === undefined).toBe(workflows.includes(workflow));
      }),
    );
  });
});
