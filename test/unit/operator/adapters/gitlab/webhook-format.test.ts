import { randomBytes } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { gitlabWebhookFormat } from "../../../../../operator/adapters/gitlab/webhook-format.ts";
import { eventProblems } from "../../../../support/fixtures/webhooks/event-schema.ts";
import {
  hmacOf,
  isAuthentic,
  receivedWebhook,
  standardWebhookHeaders,
  webhookKeys,
} from "../../../../support/fixtures/webhooks/received-webhook.ts";
import { recordedWebhook, recordedWebhooks } from "../../../../support/fixtures/webhooks/recorded.ts";

const now = new Date("2026-11-22T12:00:00Z");
type Payload = Readonly<Record<string, unknown>>;
const readRecorded = (name: string, change: (payload: Payload) => unknown = (payload) => payload) => {
  const { headers, payload } = recordedWebhook("gitlab", name);
  return gitlabWebhookFormat.read(gitlabWebhookFormat.delivery(receivedWebhook("", headers)), change(payload), { now });
};

const readWith = (name: string, attributes: object, more: object = {}) =>
  readRecorded(name, (payload) => ({
    ...payload,
    ...more,
    object_attributes: { ...(payload.object_attributes as object), ...attributes },
  }));

describe("what GitLab documents", () => {
  test("is read as events that fit their schema", () => {
    for (const { name } of recordedWebhooks("gitlab")) {
      expect({ name, problems: eventProblems(readRecorded(name).event) }).toEqual({ name, problems: [] });
    }
  });

  test("a merge request is read with its whole state, whatever its changes say", () => {
    const merge = {
      type: "pull_request",
      pullRequest: {
        number: 1,
        action: "opened",
        state: "open",
        merged: false,
        draft: false,
        labels: ["API"],
        headRef: "ms-viewport",
        headCommit: "da1560886d4f094c3e6c9ef40349f7d38b5d27d7",
        isFork: false,
        baseRef: "master",
        updatedAt: "2013-12-03T17:23:34.000Z",
      },
    };
    expect(readRecorded("merge request").event).toEqual(merge);
    const changes = { labels: { previous: [], current: [{ title: "Platform" }] }, draft: { current: true } };
    expect(readWith("merge request", { oldrev: "0".repeat(40) }, { changes }).event).toEqual(merge);
    expect(readWith("merge request", {}, { changes: undefined }).event).toEqual(merge);
  });

  test("a push; a deleted branch; a tag is none", () => {
    const push = { branch: "master", commit: "da1560886d4f094c3e6c9ef40349f7d38b5d27d7", deleted: false };
    expect(readRecorded("push").event).toEqual({ type: "push", push });
    const gone = { after: "0".repeat(40), checkout_sha: null };
    expect(readRecorded("push", (payload) => ({ ...payload, ...gone })).event).toEqual({
      type: "push",
      push: { branch: "master", deleted: true },
    });
    expect(readRecorded("tag").event.type).toBe("other");
  });

  test("a pipeline", () => {
    expect(readRecorded("pipeline").event).toEqual({
      type: "pipeline",
      pipeline: {
        project: "gitlab-org/gitlab-test",
        id: 31,
        name: "Pipeline for branch: master",
        event: "pull_request",
        commit: "bcbb5ec396a2c0f828686f14fac9b80b780504f2",
        branch: "master",
        pullRequest: 1,
        createdAt: "2016-08-12T15:23:28.000Z",
        status: "success",
        url: "http://example.com/gitlab-org/gitlab-test/-/pipelines/31",
        at: "2016-08-12T15:26:29.000Z",
      },
    });
  });

  test.each([
    ["merge request", "Push Hook"],
    ["push", "Merge Request Hook"],
    ["pipeline", "Merge Request Hook"],
    ["push", "Pipeline Hook"],
    ["merge request", ""],
    ["push", "System Hook"],
  ])("the body of a %s under the event %p is none", (name, eventName) => {
    const { payload } = recordedWebhook("gitlab", name);
    const { event, reason } = gitlabWebhookFormat.read({ eventName, deliveryId: undefined }, payload, { now });
    expect(event).toEqual({ type: "other" });
    expect(reason).toMatch(/\w/);
  });

  test("an event is read alike at either endpoint", () => {
    const { headers } = recordedWebhook("gitlab", "pipeline");
    const [one, other] = (["repohost", "pipelinehost"] as const).map((source) =>
      gitlabWebhookFormat.delivery(receivedWebhook("", headers, source)),
    );
    expect(one).toEqual(other);
  });
});

describe("a merge request", () => {
  test.each([
    { action: "open", state: "opened", read: { action: "opened", state: "open", merged: false } },
    { action: "reopen", state: "opened", read: { action: "reopened", state: "open", merged: false } },
    { action: "update", state: "opened", read: { action: "updated", state: "open", merged: false } },
    { action: "update", state: "locked", read: { action: "updated", state: "open", merged: false } },
    { action: "close", state: "closed", read: { action: "closed", state: "closed", merged: false } },
    { action: "merge", state: "merged", read: { action: "closed", state: "closed", merged: true } },
    { action: "update", state: "merged", read: { action: "updated", state: "closed", merged: true } },
    { action: "approved", state: "opened", read: { action: "other", state: "open", merged: false } },
  ])("with $action and $state is $read", ({ action, state, read }) => {
    expect(readWith("merge request", { action, state }).event.pullRequest).toMatchObject(read);
  });

  test.each([
    { of: { source_project_id: 14, target_project_id: 14 }, isFork: false },
    { of: { source_project_id: 15, target_project_id: 14 }, isFork: true },
    { of: { source_project_id: null, target_project_id: 14 }, isFork: true },
    { of: { source_project_id: undefined, target_project_id: undefined }, isFork: true },
  ])("of the projects $of is of a fork: $isFork", ({ of, isFork }) => {
    expect(readWith("merge request", of).event.pullRequest?.isFork).toBe(isFork);
  });

  test.each([
    { given: { draft: true }, draft: true },
    { given: { draft: false, work_in_progress: true }, draft: false },
    { given: { draft: undefined, work_in_progress: true }, draft: true },
  ])("with $given is a draft: $draft", ({ given, draft }) => {
    expect(readWith("merge request", given).event.pullRequest?.draft).toBe(draft);
  });

  test.each([
    "2017-09-15 16:52:00 UTC",
    "2017-09-15T16:52:00Z",
    "2017-09-15 18:52:00 +0200",
    "2017-09-15T16:52:00.000Z",
  ])("of %s is of one time", (updated_at) => {
    const { event } = readWith("merge request", { updated_at });
    expect(event.pullRequest?.updatedAt).toBe("2017-09-15T16:52:00.000Z");
  });

  test("names its author where the author caused the event", () => {
    expect(readWith("merge request", {}).event.pullRequest).not.toHaveProperty("login");
    expect(readWith("merge request", {}, { user: { id: 51, username: "jane" } }).event.pullRequest?.login).toBe("jane");
  });

  test("that is closed without a commit is read all the same", () => {
    const { event } = readWith("merge request", { action: "close", state: "closed", last_commit: null });
    expect(event.pullRequest).toMatchObject({ state: "closed", headCommit: "0".repeat(40) });
  });
});

describe("a pipeline", () => {
  test.each([
    ...["created", "waiting_for_resource", "preparing", "pending", "scheduled", "running"].map((status) => ({
      status,
      read: "running",
    })),
    { status: "success", read: "success" },
    { status: "failed", read: "failed" },
    { status: "canceled", read: "canceled" },
    { status: "skipped", read: undefined },
    { status: "manual", read: undefined },
    { status: "toString", read: undefined },
    { status: undefined, read: undefined },
  ])("that is $status is read as $read", ({ status, read }) => {
    const { event, reason } = readWith("pipeline", { status });
    expect(event.pipeline?.status).toBe(read);
    expect(reason === undefined).toBe(read !== undefined);
  });

  test.each([
    { source: "push", event: "push" },
    { source: "merge_request_event", event: "pull_request" },
    { source: "external_pull_request_event", event: "pull_request" },
    { source: "web", event: "workflow_dispatch" },
    { source: "api", event: "workflow_dispatch" },
    { source: "schedule", event: "schedule" },
    { source: "trigger", event: "repository_dispatch" },
    { source: "pipeline", event: "repository_dispatch" },
    { source: "chat", event: "chat" },
    { source: "external", event: "external" },
    { source: "parent_pipeline", event: "parent_pipeline" },
    { source: "constructor", event: "constructor" },
    { source: 7, event: "unknown" },
    { source: undefined, event: undefined },
  ])("whose source is $source runs for the event $event", ({ source, event }) => {
    expect(readWith("pipeline", { source }).event.pipeline?.event).toBe(event);
  });

  test("has a name, and no workflow: a project has one", () => {
    const { pipeline } = readWith("pipeline", {}).event;
    expect(pipeline).toMatchObject({ name: "Pipeline for branch: master" });
    expect(pipeline).not.toHaveProperty("workflow");
  });

  test("of a tag has no branch", () => {
    expect(readWith("pipeline", { tag: true, ref: "v1" }).event.pipeline).not.toHaveProperty("branch");
  });

  test.each([
    ["refs/merge-requests/7/merge", "ms-viewport"],
    ["refs/merge-requests/7/head", "ms-viewport"],
    ["ms-viewport", "ms-viewport"],
  ])("of a merge request names it, and its source branch, for the ref %s", (ref, branch) => {
    const merge_request = { iid: 7, source_branch: "ms-viewport", source_project_id: 1, target_project_id: 1 };
    const { pipeline } = readWith("pipeline", { ref, source: "merge_request_event" }, { merge_request }).event;
    expect(pipeline).toMatchObject({ pullRequest: 7, branch, event: "pull_request" });
  });

  test.each([{ iid: 0 }, { iid: -7 }, { iid: "7" }, { iid: 7.5 }, {}])(
    "of the merge request %j names none",
    (named) => {
      const merge_request = { ...named, source_project_id: 1, target_project_id: 1 };
      expect(readWith("pipeline", {}, { merge_request }).event.pipeline).not.toHaveProperty("pullRequest");
    },
  );

  test("of a fork's merge request is none", () => {
    const merge_request = { source_project_id: 2, target_project_id: 1 };
    expect(readWith("pipeline", {}, { merge_request }).event.type).toBe("other");
    expect(readWith("pipeline", {}, { merge_request: null }).event.type).toBe("pipeline");
  });

  test("that runs has the time of its arrival, because GitLab reports none", () => {
    expect(readWith("pipeline", { status: "running", finished_at: null }).event.pipeline?.at).toBe(now.toISOString());
  });
});

describe("its keys", () => {
  const fixed = "a-static-token-of-at-least-32-bytes";
  const signing = `whsec_${randomBytes(32).toString("base64")}`;
  const bytes = '{"object_kind":"push"}';
  const signed = standardWebhookHeaders(bytes, signing, { at: now });
  const withToken = { "x-gitlab-token": fixed };
  test.each([
    { keys: [fixed], headers: withToken, authentic: true },
    { keys: ["another-static-token-of-32-bytes-or-so", fixed], headers: withToken, authentic: true },
    { keys: [fixed], headers: { "x-gitlab-token": `${fixed}x` }, authentic: false },
    { keys: [fixed], headers: { "x-gitlab-token": "" }, authentic: false },
    { keys: [""], headers: { "x-gitlab-token": "" }, authentic: false },
    { keys: [], headers: withToken, authentic: false },
    { keys: [fixed], headers: { "x-hub-signature-256": `sha256=${hmacOf(bytes, fixed)}` }, authentic: false },
    { keys: [signing], headers: signed, authentic: true },
    { keys: [signing, fixed], headers: { ...signed, ...withToken }, authentic: true },
    { keys: [signing, fixed], headers: withToken, authentic: false },
    { keys: [signing], headers: { "x-gitlab-token": signing }, authentic: false },
    { keys: [fixed], headers: signed, authentic: false },
  ])("$keys and the headers $headers: authentic is $authentic", ({ keys, headers, authentic }) => {
    const webhook = receivedWebhook(bytes, headers as Record<string, string>);
    expect(isAuthentic(gitlabWebhookFormat, webhook, webhookKeys(keys), { now, replaySeconds: 300 })).toBe(authentic);
  });
});

test.each([
  { headers: { "webhook-id": "one", "idempotency-key": "two", "x-gitlab-event-uuid": "three" }, id: "one" },
  { headers: { "idempotency-key": "two", "x-gitlab-event-uuid": "three" }, id: "two" },
  { headers: { "x-gitlab-event-uuid": "three", "x-gitlab-webhook-uuid": "four" }, id: undefined },
])("the id of a delivery is one that stays over retries: $headers", ({ headers, id }) => {
  const webhook = receivedWebhook("", { "x-gitlab-event": "Push Hook", ...(headers as Record<string, string>) });
  expect(gitlabWebhookFormat.delivery(webhook)).toEqual({ eventName: "Push Hook", deliveryId: id });
});
