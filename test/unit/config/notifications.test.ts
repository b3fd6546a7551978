import { describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../config/settings.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";

const ref = { name: "chat-shop", key: "latest" };
const webhooks = [{ channel: "shop", urlRef: ref }];
const smtp = { host: "smtp.example.test", from: "platform@example.test" };
const read = (notifications: object, more: object = {}) =>
  settingsFrom({ ...testSettings, ...more, notifications }).notifications;

describe("the settings of messages", () => {
  test("send nothing by default, and warn a day and an hour ahead once there is a mail server", () => {
    expect(read({})).toMatchObject({
      chat: { webhooks: [] },
      templates: [],
      retention: { finished: 1e3, hours: 24 },
      expiryWarnings: { hours: [24, 1], extensionHours: 24 },
    });
    expect(read({ email: { smtp } }).email?.smtp).toMatchObject({ port: 587, secure: false });
  });

  test.each<[string, object]>([
    [
      "names and sections",
      { id: "ready", chat: "{{#url}}{{environment}} {{url}}{{/url}}{{^url}}x{{/url}}{{! note }}" },
    ],
    ["the link in a warning", { id: "expiry", text: "{{environment}} {{extendUrl}}" }],
    ["a template of its own", { id: "loud", chat: "UP: {{environment}}" }],
  ])("take %s", (_title, template) => {
    expect(read({ templates: [template] }).templates).toEqual([template]);
  });

  test.each<[string, object, string]>([
    [
      "a section without an end",
      { templates: [{ id: "ready", chat: "{{#url}}x" }] },
      "/templates/0/chat: does not parse",
    ],
    ["a tag without an end", { templates: [{ id: "ready", text: "{{url" }] }, "/templates/0/text: does not parse"],
    ["an unknown name", { templates: [{ id: "ready", subject: "{{secret}}" }] }, "no fact is called 'secret'"],
    ["an unknown name in a section", { templates: [{ id: "ready", chat: "{{#url}}{{x}}{{/url}}" }] }, "called 'x'"],
    ["a partial", { templates: [{ id: "ready", chat: "{{> other}}" }] }, "partials"],
    ["other delimiters", { templates: [{ id: "ready", chat: "{{=<% %>=}}<% url %>" }] }, "delimiters"],
    ["a template of its own without a text", { templates: [{ id: "loud", subject: "x" }] }, "needs a chat text"],
    ["two templates of one id", { templates: [{ id: "ready" }, { id: "ready" }] }, "'ready' is named twice"],
    ["two webhooks of one channel", { chat: { webhooks: [...webhooks, ...webhooks] } }, "'shop' is named twice"],
    ["a default without a webhook", { chat: { webhooks, default: "ops" } }, "/chat/default: no webhook"],
    ["an unverified one", { chat: { webhooks, unverifiedChannel: "ops" } }, "/chat/unverifiedChannel: no webhook"],
    ["a user without a password", { email: { smtp: { ...smtp, user: "platform" } } }, "belong together"],
    ["a password without a user", { email: { smtp: { ...smtp, passwordRef: ref } } }, "belong together"],
    ["a sender that is a list", { email: { smtp: { ...smtp, from: "a@x.test, b@x.test" } } }, "/email/smtp/from"],
    ["an address of a webhook in the settings", { chat: { webhooks: [{ channel: "x", url: "https://x" }] } }, "'url'"],
  ])("refuse %s", (_title, notifications, expected) => {
    expect(() => read(notifications)).toThrow(expected);
  });

  test.each<[string, object]>([
    ["the address of a webhook", { chat: { webhooks } }],
    ["the password of the mail server", { email: { smtp: { ...smtp, user: "platform", passwordRef: ref } } }],
  ])("share %s with no environment", (_title, notifications) => {
    const secrets = { shared: [{ ids: ["chat-shop"], groups: ["shop"] }] };
    expect(() => read(notifications, { secrets })).toThrow("which are never shared");
  });
});
