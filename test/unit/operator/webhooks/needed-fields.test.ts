import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { WebhookMalformed, WebhookTooLarge } from "../../../../operator/ports/api/webhook-inbox.ts";
import { READ_FIELDS } from "../../../../operator/ports/webhooks/webhook-format.ts";
import { NeededFields } from "../../../../operator/webhooks/needed-fields.ts";
import { WEBHOOK_FORMATS } from "../../../../operator/wiring/hosts.ts";
import { receivedWebhook } from "../../../support/fixtures/webhooks/received-webhook.ts";
import { githubExamples, recordedWebhooks } from "../../../support/fixtures/webhooks/recorded.ts";

function fieldsOf(text: string | Buffer, size = 65_536): Readonly<Record<string, unknown>> {
  const bytes = Buffer.from(text);
  const fields = new NeededFields();
  for (let at = 0; at < bytes.length; at += size) fields.push(bytes.subarray(at, at + size));
  return fields.end();
}

const isRead = (name: string) => (READ_FIELDS as readonly string[]).includes(name);
const expected = (value: object) => Object.fromEntries(Object.entries(value).filter(([name]) => isRead(name)));

test("the fields that are read are those of JSON.parse, in whatever pieces the body arrives", () => {
  const name = fc.oneof(fc.constantFrom(...READ_FIELDS), fc.string());
  const body = fc.dictionary(name, fc.jsonValue({ maxDepth: 5 }), { noNullPrototype: true });
  fc.assert(
    fc.property(body, fc.integer({ min: 1, max: 40 }), fc.constantFrom(0, 2), (value, size, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      expect(fieldsOf(text, size)).toEqual(expected(JSON.parse(text)));
    }),
  );
});

describe("no format reads a field that is passed over", () => {
  const now = new Date("2026-11-22T12:00:00Z");
  test.each(["gitea", "gitlab"] as const)("of %s", (kind) => {
    const { format } = WEBHOOK_FORMATS[kind];
    for (const { headers, payload } of recordedWebhooks(kind)) {
      const delivery = format.delivery(receivedWebhook("", headers));
      const kept = fieldsOf(JSON.stringify(payload));
      expect(format.read(delivery, kept, { now })).toEqual(format.read(delivery, payload, { now }));
    }
  });

  test.each(["github", "neutral"] as const)("of %s", (kind) => {
    const { format } = WEBHOOK_FORMATS[kind];
    for (const { name: eventName, payload } of githubExamples()) {
      const delivery = { eventName, deliveryId: undefined };
      const read = format.read(delivery, payload, { now });
      expect(format.read(delivery, fieldsOf(JSON.stringify(payload)), { now })).toEqual(read);
    }
  });
});

test.each([
  ["nothing", ""],
  ["no object", "[1]"],
  ["a text", '"ref"'],
  ["a cut body", '{"ref":"a"'],
  ["a cut text", '{"ref":"a'],
  ["a cut text that is passed over", '{"a":"b\\"}'],
  ["a field without a value", '{"ref":}'],
  ["a field without a colon", '{"ref" 1}'],
  ["a name without quotes", "{ref:1}"],
  ["a broken value", '{"ref":tru}'],
  ["a broken name", '{"\\x":1}'],
  ["brackets that do not fit", '{"a":[1}'],
  ["brackets that do not fit, deeper", '{"a":[{"b":1]]}'],
  ["an open bracket", '{"a":[1}}'],
  ["another value behind it", '{"ref":1} {}'],
  ["a comma before the end", '{"ref":1,}'],
  ["a comma at the beginning", '{,"ref":1}'],
  ["a field that is given twice", '{"repository":{"id":1},"repository":{"id":2}}'],
  ["a field that is given twice in another spelling", '{"repository":{"id":1},"r\\u0065pository":{"id":2}}'],
])("malformed: %s", (_what, text) => {
  for (const size of [1, 3, 65_536]) expect(() => fieldsOf(text, size)).toThrow(WebhookMalformed);
});

describe("abuse: memory is bounded", () => {
  test.each([
    ["of arrays", "[", "]"],
    ["of objects", '{"a":', "}"],
  ])("nesting %s beyond 32 levels is refused, also in what is passed over", (_of, open, close) => {
    const nested = (levels: number) => `{"a":${open.repeat(levels)}${open === "[" ? "" : "1"}${close.repeat(levels)}}`;
    expect(fieldsOf(nested(31))).toEqual({});
    expect(() => fieldsOf(nested(32))).toThrow(/32 levels/);
  });

  test("what is kept has 1 MiB at most, in one field or in several; what is passed over may have more", () => {
    const long = "x".repeat(1_100_000);
    expect(fieldsOf(JSON.stringify({ commits: [{ message: long }], ref: "a" }))).toEqual({ ref: "a" });
    expect(() => fieldsOf(JSON.stringify({ ref: long }))).toThrow(WebhookTooLarge);
    const half = "x".repeat(600_000);
    expect(() => fieldsOf(JSON.stringify({ ref: half, commit: { message: half } }))).toThrow(WebhookTooLarge);
    expect(fieldsOf(`{"${long}":1,"ref":"a"}`)).toEqual({ ref: "a" });
  });

  test("more than 1,000 fields are refused, also where none is kept", () => {
    const many = (count: number) => `{${Array.from({ length: count }, (_, at) => `"a${at}":1`).join(",")}}`;
    expect(fieldsOf(many(1_000))).toEqual({});
    expect(() => fieldsOf(many(1_001))).toThrow(/1000 fields/);
  });

  test("a name that means an object's prototype is passed over", () => {
    const fields = fieldsOf('{"__proto__":{"ref":"a"},"constructor":1}');
    expect([Object.keys(fields), fields.ref]).toEqual([[], undefined]);
  });
});
