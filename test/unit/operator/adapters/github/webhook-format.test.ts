import { describe, expect, test } from "@jest/globals";
import { githubWebhookFormat } from "../../../../../operator/adapters/github/webhook-format.ts";
import {
  hmacOf,
  isAuthentic,
  receivedWebhook,
  webhookKeys,
} from "../../../../support/fixtures/webhooks/received-webhook.ts";
import { githubExamples } from "../../../../support/fixtures/webhooks/recorded.ts";

const now = new Date("2026-11-22T12:00:00Z");
const COMMIT = "ec26c3e57ca3a959ca5aad62de7213c562f8c821";
const examples = githubExamples();
const read = (eventName: string, payload: unknown) =>
  githubWebhookFormat.read({ eventName, deliveryId: undefined }, payload, { now });

/** A copy of the first example of an action, with other fields of its pull request. */
function pullRequest(action: string, pull: object = {}, more: object = {}) {
  const example = examples.find(({ name, payload }) => name === "pull_request" && payload.action === action);
  return { ...example?.payload, pull_request: { ...(example?.payload.pull_request as object), ...pull }, ...more };
}

describe("a pull request", () => {
  test("an added label is reported, and all labels of the pull request", () => {
    const labels = [{ name: "preview" }, { name: "preview" }, { name: "x".repeat(101) }, { name: "" }, { id: 1 }];
    const payload = pullRequest("labeled", { labels }, { label: { name: "preview" } });
    expect(read("pull_request", payload).event.pullRequest).toMatchObject({ labels: ["preview"], label: "preview" });
  });

  test("more labels than are stored are all handed on, so that the required ones can be chosen", () => {
    const labels = Array.from({ length: 100 }, (_, index) => ({ name: `label-${index}` }));
    expect(read("pull_request", pullRequest("labeled", { labels })).event.pullRequest?.labels).toHaveLength(100);
  });

  test.each([
    { given: "the base branch", changes: { base: { ref: { from: "main" } } }, action: "edited" },
    { given: "the title", changes: { title: { from: "Cart" } }, action: "other" },
    { given: "nothing", changes: {}, action: "other" },
    { given: "changes of no known form", changes: { base: "main" }, action: "other" },
  ])("an edit of $given is read as $action", ({ changes, action }) => {
    expect(
      read("pull_request", pullRequest("opened", {}, { action: "edited", changes })).event.pullRequest,
    ).toMatchObject({
      action,
    });
  });

  test.each([
    { given: COMMIT, mergeCommit: COMMIT },
    { given: null, mergeCommit: undefined },
    { given: "none", mergeCommit: undefined },
  ])("whose merge commit is given as $given: $mergeCommit is read", ({ given, mergeCommit }) => {
    const { event } = read("pull_request", pullRequest("opened", { merge_commit_sha: given }));
    expect([event.type, event.pullRequest?.mergeCommit]).toEqual(["pull_request", mergeCommit]);
  });

  const base = { ref: "main", repo: { id: 1, full_name: "shop/api" } };
  test.each([
    { head: "in the repository of the base", repo: { id: 1, full_name: "shop/api" }, isFork: false },
    { head: "in a renamed repository of the same id", repo: { id: 1, full_name: "shop/old" }, isFork: false },
    { head: "in another repository", repo: { id: 2, full_name: "shop/api" }, isFork: true },
    { head: "in a repository that is gone", repo: null, isFork: true },
    { head: "in none that is named", repo: undefined, isFork: true },
    { head: "in a repository without an id, of the same name", repo: { full_name: "Shop/API" }, isFork: false },
    { head: "in a repository without an id, of another name", repo: { full_name: "other/api" }, isFork: true },
    { head: "in a repository without id and name", repo: {}, isFork: true },
  ])("whose head is $head: a fork is $isFork", ({ repo, isFork }) => {
    const head = { ref: "feature/cart", sha: COMMIT, repo };
    expect(read("pull_request", pullRequest("opened", { head, base })).event.pullRequest?.isFork).toBe(isFork);
  });

  test.each([
    ["is read", "open", COMMIT, COMMIT],
    ["is not there before GitHub has made it", "open", null, undefined],
    ["is ignored where it is no commit", "open", "main", undefined],
    ["is none of a closed one, which has the merge itself", "closed", COMMIT, undefined],
  ])("the merge for a test %s", (_name, state, merge_commit_sha, expected) => {
    const payload = pullRequest(state === "open" ? "opened" : "closed", { state, merge_commit_sha });
    expect(read("pull_request", payload).event.pullRequest?.mergeCommit).toBe(expected);
  });

  test("a closed one whose head is gone is read all the same, with git's id of no commit", () => {
    const head = { ref: "feature/cart", sha: null, repo: null };
    expect(read("pull_request", pullRequest("closed", { head })).event.pullRequest).toMatchObject({
      state: "closed",
      headCommit: "0".repeat(40),
    });
    expect(read("pull_request", pullRequest("opened", { head })).event.type).toBe("other");
  });

  test.each([
    { given: "no pull request", payload: { action: "opened", number: 1 } },
    { given: "a pull request that is no object", payload: { action: "opened", pull_request: "1" } },
    { given: "the body of a push", payload: { ref: "refs/heads/main", after: COMMIT, repository: { id: 1 } } },
    { given: "no object", payload: ["pull_request"] },
    { given: "nothing", payload: undefined },
    { given: "a number that JavaScript can't hold", payload: pullRequest("opened", { number: 2 ** 60 }) },
    { given: "a number that is a text", payload: pullRequest("opened", { number: "1" }) },
    { given: "an abbreviated commit", payload: pullRequest("opened", { head: { ref: "x", sha: "abc" } }) },
    { given: "a branch of 256 characters", payload: pullRequest("opened", { base: { ref: "x".repeat(256) } }) },
    { given: "labels that are no list", payload: pullRequest("opened", { labels: "preview" }) },
    { given: "an unknown state", payload: pullRequest("opened", { state: "frozen" }) },
  ])("a payload with $given is none, with a reason", ({ payload }) => {
    const { event, reason } = read("pull_request", payload);
    expect(event).toEqual({ type: "other" });
    expect(reason).toMatch(/^Not a usable pull_request: \w+ (is missing|must )/);
  });

  test.each([
    { updated_at: "2026-11-22T12:04:00Z", updatedAt: "2026-11-22T12:04:00.000Z", of: "a clock that is a little ahead" },
    { updated_at: "2026-11-22T12:06:00Z", updatedAt: undefined, of: "the future, which would outdate what follows" },
    { updated_at: "yesterday", updatedAt: undefined, of: "no form that is known" },
    { updated_at: null, updatedAt: undefined, of: "nothing" },
  ])("its time is $updatedAt where it is of $of", ({ updated_at, updatedAt }) => {
    expect(read("pull_request", pullRequest("opened", { updated_at })).event.pullRequest?.updatedAt).toBe(updatedAt);
  });

  test("a name of an author that is too long is left out", () => {
    const payload = pullRequest("opened", { user: { login: "x".repeat(129) } });
    expect(read("pull_request", payload).event.pullRequest).not.toHaveProperty("login");
  });
});

describe("a push", () => {
  test.each([
    {
      given: { ref: "refs/heads/feature/cart", after: COMMIT },
      push: { branch: "feature/cart", commit: COMMIT, deleted: false },
    },
    {
      given: { ref: "refs/heads/main", after: "0".repeat(40), deleted: true },
      push: { branch: "main", deleted: true },
    },
    { given: { ref: "refs/heads/main", after: "0".repeat(40) }, push: { branch: "main", deleted: true } },
    { given: { ref: "refs/heads/main" }, push: undefined },
    { given: { ref: "refs/heads/", after: COMMIT }, push: undefined },
    { given: { ref: "refs/tags/v1", after: COMMIT }, push: undefined },
    { given: { ref: ["refs/heads/main"], after: COMMIT }, push: undefined },
  ])("$given is read as $push", ({ given, push }) => {
    expect(read("push", given).event).toEqual(push === undefined ? { type: "other" } : { type: "push", push });
  });
});

describe("its signature", () => {
  const secret = "a-secret-of-at-least-32-bytes-length";
  const former = "the-secret-before-it-was-replaced-now";
  const bytes = '{"zen": "Keep it logically awesome."}';
  const signed = (headers: Record<string, string>, body = bytes) =>
    isAuthentic(githubWebhookFormat, receivedWebhook(body, headers), webhookKeys([secret, former]), {
      now,
      replaySeconds: 300,
    });

  test.each([secret, former])("by one of the two live keys is authentic", (key) => {
    expect(signed({ "x-hub-signature-256": `sha256=${hmacOf(bytes, key)}` })).toBe(true);
  });

  test.each([
    { given: "no signature", headers: {} },
    { given: "an empty one", headers: { "x-hub-signature-256": "" } },
    { given: "one of another key", headers: { "x-hub-signature-256": `sha256=${hmacOf(bytes, "other")}` } },
    { given: "SHA-1 alone", headers: { "x-hub-signature": `sha1=${hmacOf(bytes, secret, "sha1")}` } },
    { given: "SHA-1 in its place", headers: { "x-hub-signature-256": `sha1=${hmacOf(bytes, secret, "sha1")}` } },
    { given: "no prefix", headers: { "x-hub-signature-256": hmacOf(bytes, secret) } },
    { given: "a part of it", headers: { "x-hub-signature-256": `sha256=${hmacOf(bytes, secret).slice(0, 63)}` } },
    { given: "more than it", headers: { "x-hub-signature-256": `sha256=${hmacOf(bytes, secret)}00` } },
    { given: "capital letters", headers: { "x-hub-signature-256": `sha256=${hmacOf(bytes, secret).toUpperCase()}` } },
    { given: "another host's header", headers: { "x-gitea-signature": hmacOf(bytes, secret) } },
    { given: "the key itself", headers: { "x-gitlab-token": secret } },
  ])("with $given is refused", ({ headers }) => {
    expect(signed(headers as Record<string, string>)).toBe(false);
  });

  test("is over the bytes as they came, not over equal JSON", () => {
    const again = JSON.stringify(JSON.parse(bytes));
    expect(signed({ "x-hub-signature-256": `sha256=${hmacOf(bytes, secret)}` }, again)).toBe(false);
  });

  test("without keys nothing is authentic, not even an HMAC of an empty key", () => {
    const webhook = receivedWebhook(bytes, { "x-hub-signature-256": `sha256=${hmacOf(bytes, "")}` });
    expect(isAuthentic(githubWebhookFormat, webhook, webhookKeys([]), { now, replaySeconds: 300 })).toBe(false);
  });
});

test("its headers name event and delivery; those of other hosts are not looked at", () => {
  const named = { "x-github-event": "push", "x-github-delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958" };
  expect(githubWebhookFormat.delivery(receivedWebhook("{}", named))).toEqual({
    eventName: "push",
    deliveryId: "72d3162e-cc78-11e3-81ab-4c9367dc0958",
  });
  const others = { "x-gitea-event": "push", "x-gitlab-event": "Push Hook", "x-repohost-event": "push" };
  expect(githubWebhookFormat.delivery(receivedWebhook("{}", others))).toEqual({ eventName: "", deliveryId: undefined });
});

test("a name of an event is cut, and an id that is too long is none", () => {
  const long = { "x-github-event": "e".repeat(100), "x-github-delivery": "d".repeat(129) };
  expect(githubWebhookFormat.delivery(receivedWebhook("{}", long))).toEqual({
    eventName: "e".repeat(64),
    deliveryId: undefined,
  });
});

test("a ping is a ping, and an event that is not used says so", () => {
  expect(read("ping", { zen: "Design for failure." })).toEqual({ event: { type: "ping" } });
  expect(read("issues", {})).toEqual({ event: { type: "other" }, reason: 'The event "issues" is not used' });
  expect(read("constructor", {}).event.type).toBe("other");
});
