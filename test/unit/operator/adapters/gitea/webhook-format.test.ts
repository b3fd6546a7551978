import { describe, expect, test } from "@jest/globals";
import { giteaWebhookFormat } from "../../../../../operator/adapters/gitea/webhook-format.ts";
import { eventProblems } from "../../../../support/fixtures/webhooks/event-schema.ts";
import {
  hmacOf,
  isAuthentic,
  receivedWebhook,
  webhookKeys,
} from "../../../../support/fixtures/webhooks/received-webhook.ts";
import { recordedWebhook, recordedWebhooks } from "../../../../support/fixtures/webhooks/recorded.ts";

const now = new Date("2026-11-22T21:00:00Z");
const readRecorded = (name: string, change: (payload: Record<string, unknown>) => unknown = (payload) => payload) => {
  const { headers, payload } = recordedWebhook("gitea", name);
  return giteaWebhookFormat.read(giteaWebhookFormat.delivery(receivedWebhook("", headers)), change(payload), { now });
};

describe("what Gitea sends", () => {
  test("is read as events that fit their schema", () => {
    for (const { name } of recordedWebhooks("gitea")) {
      const { event, reason } = readRecorded(name);
      expect({ name, reason, problems: eventProblems(event) }).toEqual({ name, reason: undefined, problems: [] });
    }
  });

  const cart = { number: 1, headRef: "feature/cart", baseRef: "main", isFork: false, login: "dev" };
  test.each([
    { name: "opened", state: { ...cart, action: "opened", state: "open", draft: false, labels: [] } },
    { name: "synchronized", state: { ...cart, action: "synchronize", updatedAt: "2026-11-22T20:18:23.000Z" } },
    { name: "label updated", state: { ...cart, action: "updated", labels: ["preview"] } },
    { name: "labels cleared", state: { ...cart, action: "unlabeled", labels: [] } },
    { name: "title edited", state: { ...cart, action: "updated", draft: true } },
    { name: "base edited", state: { ...cart, action: "edited", baseRef: "release" } },
    { name: "text edited", state: { ...cart, action: "other", baseRef: "release" } },
    { name: "closed", state: { ...cart, action: "closed", state: "closed", merged: false, baseRef: "release" } },
    { name: "reopened", state: { ...cart, action: "reopened", state: "open", baseRef: "release" } },
    { name: "merged", state: { ...cart, action: "closed", state: "closed", merged: true, baseRef: "release" } },
  ])("a pull request that was $name", ({ name, state }) => {
    expect(readRecorded(name).event.pullRequest).toMatchObject(state);
  });

  test("a pull request of a fork is one", () => {
    expect(readRecorded("of a fork").event.pullRequest).toMatchObject({
      isFork: true,
      headRef: "main2",
      login: "stranger",
    });
  });

  test("a pull request that was pushed to refs/for needs no right to write, so it is trusted no more than a fork", () => {
    const { payload } = recordedWebhook("gitea", "AGit");
    expect(payload).toMatchObject({ pull_request: { head: { repo: { full_name: "dev/shop" } } } });
    expect(readRecorded("AGit").event.pullRequest).toMatchObject({ isFork: true, headRef: "refs/pull/3/head" });
  });

  test("the branch of a pull request is known after it was deleted", () => {
    const { event } = readRecorded("closed", (payload) => {
      const pull = payload.pull_request as { head: object };
      return { ...payload, pull_request: { ...pull, head: { ...pull.head, ref: "refs/pull/1/head" } } };
    });
    expect(event.pullRequest).toMatchObject({ headRef: "feature/cart", isFork: false });
  });

  test("a push", () => {
    const commit = expect.stringMatching(/^[0-9a-f]{40}$/);
    expect(readRecorded("push").event).toEqual({ type: "push", push: { branch: "main", commit, deleted: false } });
  });

  test("a deleted branch, which is no push; a deleted tag is nothing", () => {
    expect(readRecorded("branch deleted").event).toEqual({
      type: "push",
      push: { branch: "feature/cart", deleted: true },
    });
    expect(readRecorded("branch deleted", (payload) => ({ ...payload, ref_type: "tag" })).event.type).toBe("other");
  });
});

describe("a workflow run of Gitea", () => {
  const COMMIT = "5af55ff2623fdee503c6c07ef03ace1e28316914";
  const run = (action: string, more: object) =>
    readRecorded("workflow requested", (payload) => ({
      ...payload,
      action,
      workflow_run: { ...(payload.workflow_run as object), ...more },
    }));

  test("that is requested runs since now, because Gitea reports that it has started in 1970", () => {
    expect(readRecorded("workflow requested").event.pipeline).toMatchObject({
      project: "dev/shop",
      id: 1,
      commit: COMMIT,
      branch: "main",
      workflow: "build.yaml",
      event: "push",
      status: "running",
      at: now.toISOString(),
    });
  });

  test("that runs has the time of its start, one that is over that of its end", () => {
    const times = { started_at: "2026-11-22T20:30:00Z", completed_at: "2026-11-22T20:40:00Z" };
    expect(run("in_progress", times).event.pipeline).toMatchObject({
      status: "running",
      at: "2026-11-22T20:30:00.000Z",
    });
    expect(run("completed", { ...times, conclusion: "failure" }).event.pipeline).toMatchObject({
      status: "failed",
      at: "2026-11-22T20:40:00.000Z",
    });
  });

  test("of a pull request names no branch", () => {
    expect(run("in_progress", { head_branch: "" }).event.pipeline).not.toHaveProperty("branch");
  });
});

describe("its signature", () => {
  const secret = "a-secret-of-at-least-32-bytes-length";
  const bytes = '{\n  "ref": "refs/heads/main"\n}';
  const own = hmacOf(bytes, secret);
  test.each([
    { given: "its own header", headers: { "x-gitea-signature": own }, authentic: true },
    { given: "GitHub's header alone", headers: { "x-hub-signature-256": `sha256=${own}` }, authentic: true },
    {
      given: "a wrong one of its own beside GitHub's",
      headers: { "x-gitea-signature": hmacOf(bytes, "x"), "x-hub-signature-256": `sha256=${own}` },
      authentic: false,
    },
    { given: "a prefix in its own header", headers: { "x-gitea-signature": `sha256=${own}` }, authentic: false },
    { given: "SHA-1 alone", headers: { "x-hub-signature": `sha1=${hmacOf(bytes, secret, "sha1")}` }, authentic: false },
    { given: "an empty header, of a hook without a secret", headers: { "x-gitea-signature": "" }, authentic: false },
    { given: "no header", headers: {}, authentic: false },
  ])("with $given: authentic is $authentic", ({ headers, authentic }) => {
    const webhook = receivedWebhook(bytes, headers as Record<string, string>);
    expect(isAuthentic(giteaWebhookFormat, webhook, webhookKeys([secret]), { now, replaySeconds: 300 })).toBe(
      authentic,
    );
  });
});

test("its headers name form and delivery; the finer type is used where the form is missing", () => {
  const { headers } = recordedWebhook("gitea", "synchronized");
  const id = headers["x-gitea-delivery"];
  expect(giteaWebhookFormat.delivery(receivedWebhook("", headers))).toEqual({
    eventName: "pull_request",
    deliveryId: id,
  });
  const older = { "x-gitea-event-type": "workflow_run", "x-github-event": "push" };
  expect(giteaWebhookFormat.delivery(receivedWebhook("", older)).eventName).toBe("workflow_run");
});
