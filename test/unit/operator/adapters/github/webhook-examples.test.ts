import { describe, expect, test } from "@jest/globals";
import { githubWebhookFormat } from "../../../../../operator/adapters/github/webhook-format.ts";
import { eventProblems } from "../../../../support/fixtures/webhooks/event-schema.ts";
import { githubExamples } from "../../../../support/fixtures/webhooks/recorded.ts";

const now = new Date("2026-11-22T12:00:00Z");
const examples = githubExamples();
const read = (eventName: string, payload: unknown) =>
  githubWebhookFormat.read({ eventName, deliveryId: undefined }, payload, { now });

describe("the examples of GitHub", () => {
  test("each is read as an event that fits its schema, or as none with a reason", () => {
    expect(examples).toHaveLength(726);
    for (const { name, payload } of examples) {
      const { event, reason } = read(name, payload);
      expect({ name, problems: eventProblems(event) }).toEqual({ name, problems: [] });
      expect(reason === undefined).toBe(event.type !== "other");
    }
  });

  test("only those of the five events are used", () => {
    const used = examples.filter(({ name, payload }) => read(name, payload).event.type !== "other");
    expect([...new Set(used.map(({ name }) => name))].sort()).toEqual([
      "merge_group",
      "ping",
      "pull_request",
      "push",
      "workflow_run",
    ]);
  });

  test("every pull request is read with its action and its whole state", () => {
    const pulls = examples.filter(({ name }) => name === "pull_request");
    const actions: Record<string, string> = {};
    for (const { payload } of pulls) {
      const { pullRequest: state } = read("pull_request", payload).event;
      const { number, head } = payload.pull_request as { number: number; head: { sha: string; ref: string } };
      expect(state).toMatchObject({ number, headCommit: head.sha, headRef: head.ref, baseRef: "master" });
      expect(state).toMatchObject({ isFork: false, login: "Codertocat", updatedAt: expect.stringMatching(/^20.*Z$/) });
      expect(state?.state).toBe(payload.action === "closed" ? "closed" : "open");
      actions[String(payload.action)] = state?.action ?? "";
    }
    expect(actions).toEqual({
      opened: "opened",
      reopened: "reopened",
      synchronize: "synchronize",
      labeled: "labeled",
      unlabeled: "unlabeled",
      ready_for_review: "ready_for_review",
      converted_to_draft: "converted_to_draft",
      closed: "closed",
      assigned: "other",
      unassigned: "other",
      locked: "other",
      unlocked: "other",
      review_requested: "other",
      review_request_removed: "other",
    });
  });

  test("of the pushes, those to tags are none", () => {
    const pushes = examples.filter(({ name }) => name === "push");
    const results = pushes.map(({ payload }) => [String(payload.ref), read("push", payload).event] as const);
    for (const [ref, event] of results) {
      expect(event.push?.branch).toBe(ref.startsWith("refs/heads/") ? "master" : undefined);
    }
    expect(results.some(([, event]) => event.type === "push")).toBe(true);
    expect(results.some(([, event]) => event.type === "other")).toBe(true);
  });

  test("a merge group that asks for checks is read with its commit", () => {
    const groups = examples.filter(({ name }) => name === "merge_group").map(({ payload }) => payload);
    const [asking] = groups.filter(({ action }) => action === "checks_requested");
    expect(read("merge_group", asking).event).toEqual({
      type: "merge_group",
      mergeGroup: {
        commit: "2ffea6db159f6b6c47a24e778fb9ef40cf6b1c7d",
        branch: "gh-readonly-queue/main/pr-104-929f8209d40f77f4abc622a499c93a83babdbe64",
        baseRef: "main",
      },
    });
    expect(read("merge_group", { ...asking, action: "destroyed" }).event.type).toBe("other");
  });
});
