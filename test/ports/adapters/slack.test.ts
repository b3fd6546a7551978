import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Sensitive } from "../../../crds/sensitive.ts";
import { incomingWebhookChat } from "../../../operator/adapters/slack/incoming-webhook.ts";
import { MessageRefused, MessagingUnavailable } from "../../../operator/ports/notifications.ts";
import { type ChatServer, startChatServer } from "../../support/doubles/chat-server.ts";
import type { Mood } from "../../support/doubles/memory/webhooks/messaging.ts";
import { chatSuite } from "../suites/messaging.suite.ts";

const never = new AbortController().signal;

function answer(server: ChatServer, mood: Mood): void {
  if (typeof mood === "object") server.answer(429, { "retry-after": String(mood.retryAfterSeconds) });
  else server.answer({ takes: 200, refuses: 404, fails: 500 }[mood]);
}

chatSuite("by Slack's incoming webhooks", async () => {
  const server = await startChatServer();
  const chat = incomingWebhookChat();
  return {
    chat,
    url: new Sensitive(`${server.url("shop")}\n`),
    be: (mood) => answer(server, mood),
    texts: () => server.received.map(({ body }) => JSON.parse(body).text),
    async stop() {
      await chat.close();
      await server.stop();
    },
  };
});

describe("Slack's incoming webhooks", () => {
  const chat = incomingWebhookChat({ timeoutMs: 300 });
  let server: ChatServer;
  beforeAll(async () => {
    server = await startChatServer();
  });
  afterAll(async () => {
    await chat.close();
    await server.stop();
  });
  const post = (url: string) => chat.post(new Sensitive(url), "hello", never);
  const failure = (url: string) =>
    post(url).then(
      () => undefined,
      (error: Error) => error,
    );

  test.each([
    [408, MessagingUnavailable],
    [429, MessagingUnavailable],
    [503, MessagingUnavailable],
    [400, MessageRefused],
    [403, MessageRefused],
    [410, MessageRefused],
  ])("that answer %i are understood", async (status, type) => {
    server.answer(status);
    expect(await failure(server.url("shop"))).toBeInstanceOf(type);
  });

  test("are not followed elsewhere", async () => {
    const other = await startChatServer();
    server.answer(307, { location: other.url("stolen") });
    expect(await failure(server.url("shop"))).toBeInstanceOf(MessageRefused);
    expect(other.received).toEqual([]);
    await other.stop();
  });

  test("that never answer are given up", async () => {
    server.answer("hang");
    expect(await failure(server.url("shop"))).toBeInstanceOf(MessagingUnavailable);
  });

  test("without a server may be served later", async () => {
    const gone = await startChatServer();
    const url = gone.url("shop");
    await gone.stop();
    expect(await failure(url)).toBeInstanceOf(MessagingUnavailable);
  });

  test.each(["http://chat.example.test/services/T0/B0", "ftp://127.0.0.1/x", "nonsense", ""])(
    "that are not safe are not called: %s",
    async (url) => {
      expect(await failure(url)).toBeInstanceOf(MessageRefused);
    },
  );

  test("are in no error", async () => {
    server.answer(500);
    for (const url of [server.url("s3cret"), "http://127.0.0.1:1/s3cret", "http://chat.example.test/s3cret"]) {
      expect((await failure(url))?.message).not.toContain("s3cret");
    }
  });

  test("are sent no mentions by name", async () => {
    server.answer(200);
    await post(server.url("shop"));
    expect(JSON.parse(server.received.at(-1)?.body ?? "")).toMatchObject({ link_names: false });
  });
});
