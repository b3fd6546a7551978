import { describe, expect, test } from "@jest/globals";
import { workflowRunEvent } from "../../../../../operator/adapters/webhook-format/pipeline.ts";

const now = new Date("2026-11-22T12:00:00Z");
const COMMIT = "ec26c3e57ca3a959ca5aad62de7213c562f8c821";

describe("a workflow run", () => {
  const repository = { id: 1, full_name: "shop/api" };
  const run = {
    id: 30_433_642,
    head_sha: COMMIT,
    head_branch: "feature/cart",
    path: ".github/workflows/build.yml",
    name: "Build image",
    event: "push",
    run_attempt: 2,
    html_url: "https://github.com/shop/api/actions/runs/30433642",
    updated_at: "2026-11-22T11:00:00Z",
    head_repository: repository,
    conclusion: null,
  };
  const runEvent = (action: string, more: object = {}) =>
    workflowRunEvent({ action, workflow_run: { ...run, ...more }, repository }, now);

  test("is a pipeline of its head commit", () => {
    expect(runEvent("completed", { conclusion: "success" }).event).toEqual({
      type: "pipeline",
      pipeline: {
        project: "shop/api",
        id: 30_433_642,
        workflow: ".github/workflows/build.yml",
        name: "Build image",
        event: "push",
        attempt: 2,
        commit: COMMIT,
        branch: "feature/cart",
        status: "success",
        url: "https://github.com/shop/api/actions/runs/30433642",
        at: "2026-11-22T11:00:00.000Z",
      },
    });
  });

  test.each([
    { action: "requested", conclusion: null, status: "running" },
    { action: "in_progress", conclusion: undefined, status: "running" },
    { action: "completed", conclusion: "success", status: "success" },
    { action: "completed", conclusion: "failure", status: "failed" },
    { action: "completed", conclusion: "timed_out", status: "failed" },
    { action: "completed", conclusion: "startup_failure", status: "failed" },
    { action: "completed", conclusion: "cancelled", status: "canceled" },
    { action: "completed", conclusion: "skipped", status: undefined },
    { action: "completed", conclusion: "neutral", status: undefined },
    { action: "completed", conclusion: "constructor", status: undefined },
    { action: "completed", conclusion: null, status: undefined },
    { action: "requested", conclusion: "action_required", status: undefined },
    { action: "deleted", conclusion: null, status: undefined },
  ])("$action with the conclusion $conclusion is $status", ({ action, conclusion, status }) => {
    expect(runEvent(action, { conclusion }).event.pipeline?.status).toBe(status);
  });

  test.each([{ head_repository: { id: 2, full_name: "stranger/api" } }, { head_repository: null }])(
    "of a fork is none, whatever its branch is called: $head_repository",
    (head) => {
      expect(runEvent("completed", { conclusion: "success", head_branch: "main", ...head }).event.type).toBe("other");
    },
  );

  test.each<[string, object, object]>([
    ["a path with its ref, as Gitea reports it", { path: "build.yaml@refs/heads/x.yml@y" }, { workflow: "build.yaml" }],
    ["no path", { path: undefined }, { workflow: "Build image" }],
    ["a name beside the run", { name: undefined }, { workflow: ".github/workflows/build.yml" }],
    ["a comment", { event: "issue_comment" }, { event: "issue_comment" }],
    ["Gitea's event of a pull request", { event: "pull_request_sync" }, { event: "pull_request" }],
    ["Gitea's event of a comment", { event: "pull_request_comment" }, { event: "pull_request_comment" }],
    ["a word that is no event's", { event: "Issue Comment" }, { event: "unknown" }],
    ["an event that is no text", { event: 7 }, { event: "unknown" }],
  ])("is known by its workflow and event: %s", (_what, more, expected) => {
    expect(runEvent("requested", more).event.pipeline).toMatchObject(expected);
  });

  test("without an event or a workflow names none", () => {
    const { pipeline } = runEvent("requested", { event: undefined, path: undefined, name: undefined }).event;
    expect(Object.keys(pipeline ?? {})).not.toEqual(expect.arrayContaining(["event"]));
    expect(Object.keys(pipeline ?? {})).not.toEqual(expect.arrayContaining(["workflow"]));
  });

  test("an address that is no http address is left out", () => {
    expect(runEvent("requested", { html_url: "javascript:alert(1)" }).event.pipeline).not.toHaveProperty("url");
  });
});
