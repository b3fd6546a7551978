import { describe, expect, test } from "@jest/globals";
import { MESSAGE_EVENTS } from "../../../../../crds/notifications/notification.schema.ts";
import type { Facts, MessageEvent, NotificationSpec } from "../../../../../crds/notifications/notification.ts";
import { messageTexts } from "../../../../../operator/controllers/notification/sender.ts";

const facts: Facts = {
  environment: "shop-pr-7",
  repository: "shop-api",
  branch: "feature_x",
  commit: "0a1b2c3d",
  url: "https://shop-pr-7.env.test",
  status: "ready",
  reason: "Expired",
  message: "it went wrong",
  project: "g/shop",
  image: "registry.test/shop_api:0a1b2c3d",
  expiresAt: "2026-06-02T00:00:00.000Z",
};
const specOf = (event: MessageEvent, more: Facts = {}, template: string = event): NotificationSpec => ({
  channel: "chat",
  to: "shop",
  event,
  template,
  facts: { ...facts, ...more },
  at: "2026-06-01T12:00:00.000Z",
});
const builtIn = messageTexts([]);

describe("a built-in text", () => {
  test.each<[MessageEvent, Facts, string]>([
    ["created", {}, "*shop-pr-7* is being created: shop-api feature_x at 0a1b2c3d"],
    ["ready", {}, "*shop-pr-7* is ready: https://shop-pr-7.env.test/ (shop-api feature_x at 0a1b2c3d)"],
    [
      "ready",
      { hostUrls: "admin: https://shop-pr-7--admin.env.test, docs: https://shop-pr-7--docs.env.test" },
      "*shop-pr-7* is ready: https://shop-pr-7.env.test/, admin: https://shop-pr-7--admin.env.test, docs: https://shop-pr-7--docs.env.test (shop-api feature_x at 0a1b2c3d)",
    ],
    ["updated", {}, "*shop-pr-7* is updated: https://shop-pr-7.env.test/ (shop-api feature_x at 0a1b2c3d)"],
    ["failed", {}, "*shop-pr-7* failed: Expired: it went wrong (shop-api feature_x at 0a1b2c3d)"],
    ["deleted", {}, "*shop-pr-7* is deleted (Expired)"],
    [
      "pipeline",
      { status: "failed", pipelineUrl: "https://ci.test/p/7" },
      "Pipeline of *g/shop* at 0a1b2c3d: failed, image registry.test/shop_api:0a1b2c3d https://ci.test/p/7",
    ],
  ])("in a chat says what %s means", (event, more, expected) => {
    expect(builtIn.chat(specOf(event, more))).toBe(expected);
  });

  test.each(MESSAGE_EVENTS.map((event) => [event]))("in an e-mail has a subject and a text for %s", (event) => {
    const { subject, text } = builtIn.mail(specOf(event));
    expect(subject).not.toMatch(/[\r\n{}*]/);
    expect(subject.length).toBeGreaterThan(5);
    expect(text).toContain("Sent by the Ephemeral Environment Platform.");
    expect(text).not.toMatch(/[{}]/);
  });

  test("of a warning has the link in the e-mail alone", () => {
    const link = "https://platform.test/api/v2/extensions/token.signature";
    expect(builtIn.mail(specOf("expiry"), link).text).toContain(`\n${link}\n`);
    expect(builtIn.mail(specOf("expiry")).text).not.toContain("open this link");
    expect(builtIn.chat(specOf("expiry"))).toBe("*shop-pr-7* expires at 2026-06-02T00:00:00.000Z");
  });
});

describe("a text of the settings", () => {
  const chat = (text: string, more: Facts = {}) =>
    messageTexts([{ id: "ready", chat: text }]).chat(specOf("ready", more));

  test("replaces the built-in one of its event, and nothing else of it", () => {
    const texts = messageTexts([{ id: "ready", chat: "up: {{environment}}" }]);
    expect(texts.chat(specOf("ready"))).toBe("up: shop-pr-7");
    expect(texts.chat(specOf("created"))).toBe(builtIn.chat(specOf("created")));
    expect(texts.mail(specOf("ready"))).toEqual(builtIn.mail(specOf("ready")));
  });

  test("is chosen by its id, and the built-in one where it is gone", () => {
    const texts = messageTexts([{ id: "loud", chat: "READY {{environment}}" }]);
    expect(texts.chat(specOf("ready", {}, "loud"))).toBe("READY shop-pr-7");
    expect(texts.chat(specOf("ready", {}, "gone"))).toBe(builtIn.chat(specOf("ready")));
  });

  test.each<[string, string, string]>([
    ["a section for a fact that is known", "{{#commit}}at {{commit}}{{/commit}}", "at 0a1b2c3d"],
    ["no section for one that is not", "x{{#owner}}by {{owner}}{{/owner}}", "x"],
    ["the opposite section", "{{^owner}}of none{{/owner}}", "of none"],
    ["nothing for an unknown name", "x{{owner}}", "x"],
    ["no property of an object", "x{{constructor}}{{toString}}{{__proto__}}{{environment.constructor}}", "x"],
  ])("has %s", (_title, template, expected) => {
    expect(chat(template)).toBe(expected);
  });

  test("never holds unescaped facts, however they are named", () => {
    const more = { message: "<!channel> {{environment}}" };
    for (const template of ["{{message}}", "{{{message}}}", "{{&message}}"]) {
      expect(chat(template, more)).toBe("&lt;!channel&gt; {{environment}}");
    }
  });
});
