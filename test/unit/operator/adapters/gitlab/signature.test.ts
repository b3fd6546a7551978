import { randomBytes } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { gitlabAuthentication } from "../../../../../operator/adapters/gitlab/signature.ts";
import {
  receivedWebhook,
  standardWebhookHeaders,
  webhookKeys,
} from "../../../../support/fixtures/webhooks/received-webhook.ts";

const now = new Date("2026-11-22T12:00:00Z");
const newToken = () => `whsec_${randomBytes(32).toString("base64")}`;
const [token, former] = [newToken(), newToken()];
const bytes = '{"object_kind":"push"}';
const headers = standardWebhookHeaders(bytes, token, { at: now });

function isAuthentic(changed: Readonly<Record<string, string>>, body = bytes, tokens = [token, former]): boolean {
  const webhook = receivedWebhook(body, { ...headers, ...changed });
  const check = gitlabAuthentication(webhook, webhookKeys(tokens), { now, replaySeconds: 300 });
  check.update(webhook.bytes);
  return check.isAuthentic();
}

describe("a delivery that is signed by the Standard Webhooks", () => {
  test("with one of the two live tokens is authentic", () => {
    expect(isAuthentic({})).toBe(true);
    expect(isAuthentic(standardWebhookHeaders(bytes, former, { at: now }))).toBe(true);
    expect(isAuthentic(standardWebhookHeaders(bytes, newToken(), { at: now }))).toBe(false);
  });

  test("may have several signatures, of which one fits", () => {
    const other = standardWebhookHeaders(bytes, newToken(), { at: now })["webhook-signature"];
    expect(isAuthentic({ "webhook-signature": `v1a,abc ${other} ${headers["webhook-signature"]}` })).toBe(true);
    expect(isAuthentic({ "webhook-signature": `v1a,abc ${other}` })).toBe(false);
  });

  test.each([
    { seconds: -300, authentic: true },
    { seconds: 300, authentic: true },
    { seconds: -301, authentic: false },
    { seconds: 301, authentic: false },
    { seconds: -86_400, authentic: false },
  ])("$seconds seconds from now is authentic: $authentic", ({ seconds, authentic }) => {
    const at = new Date(now.getTime() + seconds * 1000);
    expect(isAuthentic(standardWebhookHeaders(bytes, token, { at }))).toBe(authentic);
  });

  test.each([
    { given: "a fresh timestamp on an old signature", changed: { "webhook-timestamp": `${now.getTime() / 1000 - 1}` } },
    { given: "a timestamp that is no number", changed: { "webhook-timestamp": "now" } },
    { given: "a timestamp with a fraction", changed: { "webhook-timestamp": `${now.getTime() / 1000}.0` } },
    { given: "no timestamp", changed: { "webhook-timestamp": "" } },
    { given: "another id", changed: { "webhook-id": "other" } },
    { given: "no id", changed: { "webhook-id": "" } },
    { given: "no signature", changed: { "webhook-signature": "" } },
    {
      given: "a signature of another version",
      changed: { "webhook-signature": headers["webhook-signature"].replace("v1", "v2") },
    },
    { given: "a signature without a version", changed: { "webhook-signature": headers["webhook-signature"].slice(3) } },
  ])("with $given is refused", ({ changed }) => {
    expect(isAuthentic(changed as Readonly<Record<string, string>>)).toBe(false);
  });

  test("over another body is refused", () => {
    expect(isAuthentic({}, `${bytes} `)).toBe(false);
  });

  test.each([
    "whsec_",
    "whsec_!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!",
    `whsec_${randomBytes(16).toString("base64")}`,
  ])("%p is no key of 32 bytes and verifies nothing", (weak) => {
    expect(isAuthentic(standardWebhookHeaders(bytes, weak, { at: now }), bytes, [weak])).toBe(false);
  });
});
