import { describe, expect, test } from "@jest/globals";
import { neutralWebhookFormat } from "../../../../../operator/adapters/neutral/webhook-format.ts";
import { eventProblems } from "../../../../support/fixtures/webhooks/event-schema.ts";
import {
  hmacOf,
  isAuthentic,
  receivedWebhook,
  webhookKeys,
} from "../../../../support/fixtures/webhooks/received-webhook.ts";

const now = new Date("2026-11-22T12:00:00Z");
const COMMIT = "ec26c3e57ca3a959ca5aad62de7213c562f8c821";
const read = (eventName: string, payload: unknown) => {
  const result = neutralWebhookFormat.read({ eventName, deliveryId: undefined }, payload, { now });
  expect(eventProblems(result.event)).toEqual([]);
  return result;
};

const opened = {
  action: "opened",
  number: 42,
  pull_request: {
    id: 1,
    number: 42,
    title: "Cart",
    body: "",
    state: "open",
    head: { ref: "feature/cart", sha: COMMIT },
    base: { ref: "main", sha: "0".repeat(40) },
    user: { login: "dev", email: "dev@example.test" },
  },
  repository: { name: "shop", full_name: "g/shop", clone_url: "https://git.example.test/g/shop.git" },
};
const pipeline = {
  object_kind: "pipeline",
  object_attributes: {
    id: 7,
    status: "success",
    url: "https://git.example.test/g/shop/pipelines/7",
    created_at: "2026-11-22T10:00:00Z",
    finished_at: "2026-11-22T11:00:00Z",
  },
  project: { id: 1, name: "shop", path_with_namespace: "g/shop", web_url: "https://git.example.test/g/shop" },
  commit: { id: COMMIT, short_id: "ec26c3e5", title: "Cart", message: "Cart", author_name: "Dev" },
  builds: [{ id: 1, stage: "build", name: "image", status: "success" }],
};

describe("the contract's pull request", () => {
  test("needs no field beyond the contract's", () => {
    expect(read("pull_request", opened)).toEqual({
      event: {
        type: "pull_request",
        pullRequest: {
          number: 42,
          action: "opened",
          state: "open",
          merged: false,
          draft: false,
          labels: [],
          headRef: "feature/cart",
          headCommit: COMMIT,
          isFork: false,
          baseRef: "main",
          login: "dev",
        },
      },
    });
  });

  test.each([
    { given: { action: "synchronize" }, state: { action: "synchronize", state: "open" } },
    { given: { action: "synchronized" }, state: { action: "synchronize", state: "open" } },
    { given: { action: "closed" }, state: { action: "closed", state: "closed", merged: false } },
    { given: { action: "closed", merged: true }, state: { action: "closed", state: "closed", merged: true } },
    { given: { action: "closed", state: "merged" }, state: { action: "closed", state: "closed", merged: true } },
    { given: { action: "merged" }, state: { action: "closed", state: "closed", merged: true } },
    { given: { action: "celebrated" }, state: { action: "other", state: "open" } },
  ])("with $given is $state", ({ given: { action, ...pull }, state }) => {
    const payload = { ...opened, action, pull_request: { ...opened.pull_request, ...pull } };
    expect(read("pull_request", payload).event.pullRequest).toMatchObject(state);
  });

  test("may name the repository of its head, and is of a fork where that is another", () => {
    const from = (repo: unknown) =>
      read("pull_request", {
        ...opened,
        pull_request: { ...opened.pull_request, head: { ...opened.pull_request.head, repo } },
      }).event.pullRequest?.isFork;
    expect(from({ full_name: "g/shop" })).toBe(false);
    expect(from({ full_name: "stranger/shop" })).toBe(true);
    expect(from(null)).toBe(true);
  });
});

describe("the contract's pipeline", () => {
  test("needs no field beyond the contract's", () => {
    expect(read("pipeline", pipeline)).toEqual({
      event: {
        type: "pipeline",
        pipeline: {
          project: "g/shop",
          id: 7,
          commit: COMMIT,
          status: "success",
          url: "https://git.example.test/g/shop/pipelines/7",
          at: "2026-11-22T11:00:00.000Z",
        },
      },
    });
  });

  test("of another kind of object is none", () => {
    expect(read("pipeline", { ...pipeline, object_kind: "build" }).event.type).toBe("other");
    expect(read("pipeline", opened).event.type).toBe("other");
  });
});

describe("its headers", () => {
  const secret = "a-secret-of-at-least-32-bytes-length";
  const token = "a-token-of-at-least-32-bytes-in-length";
  const keys = webhookKeys([secret], [token]);
  const body = JSON.stringify(opened);
  const fits = (source: "repohost" | "pipelinehost", headers: Record<string, string>, of = keys) =>
    isAuthentic(neutralWebhookFormat, receivedWebhook(body, headers, source), of, { now, replaySeconds: 300 });
  const signature = { "x-hub-signature-256": `sha256=${hmacOf(body, secret)}` };

  test("are a signature at the endpoint of repositories, and a token at that of pipelines", () => {
    expect(fits("repohost", signature)).toBe(true);
    expect(fits("pipelinehost", { "x-pipeline-token": token })).toBe(true);
  });

  test.each([
    { given: "a token at the endpoint of repositories", source: "repohost", headers: { "x-pipeline-token": token } },
    { given: "a signature at the endpoint of pipelines", source: "pipelinehost", headers: signature },
    { given: "the secret as a token", source: "pipelinehost", headers: { "x-pipeline-token": secret } },
    { given: "a part of the token", source: "pipelinehost", headers: { "x-pipeline-token": token.slice(1) } },
    { given: "an empty token", source: "pipelinehost", headers: { "x-pipeline-token": "" } },
    { given: "no token", source: "pipelinehost", headers: {} },
    { given: "SHA-1", source: "repohost", headers: { "x-hub-signature": `sha1=${hmacOf(body, secret, "sha1")}` } },
  ] as const)("with $given are refused", ({ source, headers }) => {
    expect(fits(source, headers as Record<string, string>)).toBe(false);
  });

  test("verify nothing where there are no keys", () => {
    expect(fits("pipelinehost", { "x-pipeline-token": token }, webhookKeys([secret], []))).toBe(false);
    expect(fits("pipelinehost", { "x-pipeline-token": "" }, webhookKeys([], [""]))).toBe(false);
  });

  test("name event and delivery; a pipeline has no header for its event", () => {
    const headers = { "x-repohost-event": "ping", "x-repohost-delivery": "1", "x-github-event": "push" };
    expect(neutralWebhookFormat.delivery(receivedWebhook(body, headers))).toEqual({
      eventName: "ping",
      deliveryId: "1",
    });
    expect(neutralWebhookFormat.delivery(receivedWebhook(body, {}, "pipelinehost"))).toEqual({
      eventName: "pipeline",
      deliveryId: undefined,
    });
  });
});

test("a ping is a ping", () => {
  expect(read("ping", {})).toEqual({ event: { type: "ping" } });
});
