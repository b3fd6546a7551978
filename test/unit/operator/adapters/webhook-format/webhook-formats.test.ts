import { randomBytes } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { giteaWebhookFormat } from "../../../../../operator/adapters/gitea/webhook-format.ts";
import { githubWebhookFormat } from "../../../../../operator/adapters/github/webhook-format.ts";
import { gitlabWebhookFormat } from "../../../../../operator/adapters/gitlab/webhook-format.ts";
import { neutralWebhookFormat } from "../../../../../operator/adapters/neutral/webhook-format.ts";
import type { WebhookFormat } from "../../../../../operator/ports/webhooks/webhook-format.ts";
import type { FormatKind } from "../../../../../operator/webhooks/senders.ts";
import { eventProblems } from "../../../../support/fixtures/webhooks/event-schema.ts";
import {
  hmacOf,
  isAuthentic,
  receivedWebhook,
  standardWebhookHeaders,
  webhookKeys,
} from "../../../../support/fixtures/webhooks/received-webhook.ts";
import { recordedWebhook } from "../../../../support/fixtures/webhooks/recorded.ts";

const now = new Date("2026-11-22T21:00:00Z");
const FORMATS: readonly { kind: FormatKind; format: WebhookFormat; names: readonly string[] }[] = [
  {
    kind: "github",
    format: githubWebhookFormat,
    names: ["pull_request", "push", "workflow_run", "merge_group", "ping"],
  },
  { kind: "gitea", format: giteaWebhookFormat, names: ["pull_request", "push", "workflow_run", "delete"] },
  { kind: "gitlab", format: gitlabWebhookFormat, names: ["Merge Request Hook", "Push Hook", "Pipeline Hook"] },
  { kind: "neutral", format: neutralWebhookFormat, names: ["pull_request", "push", "workflow_run", "pipeline"] },
];

describe("each kind of host", () => {
  const heads = {
    github: "refs/pull/7/head",
    gitea: "refs/pull/7/head",
    gitlab: "refs/merge-requests/7/head",
    neutral: "refs/pull/7/head",
  };
  const fields = {
    github: ["repository", "repository"],
    gitea: ["repository", "repository"],
    gitlab: ["project", "project"],
    neutral: ["repository", "project"],
  };
  test.each(FORMATS)("names the head of a pull request and the field of the repository: $kind", ({ kind, format }) => {
    expect(format.pullRequestRef(7)).toBe(heads[kind]);
    const sources = ["repohost", "pipelinehost"] as const;
    expect(sources.map((source) => format.repositoryField({ source }))).toEqual(fields[kind]);
  });

  test.each(FORMATS)("shows all labels of a pull request, but for Gitea's update that lists none: $kind", (of) => {
    const hides = (action: "updated" | "opened", labels: string[]) => of.format.mayHideLabels({ action, labels });
    expect(hides("updated", [])).toBe(of.kind === "gitea");
    expect([hides("updated", ["a"]), hides("opened", [])]).toEqual([false, false]);
  });
});

/** All paths of a payload. */
function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, part]) => pathsOf(part, [...path, key]))];
}

function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  const part = (value as Record<string, unknown>)[key];
  if (Array.isArray(value)) return value.map((one, index) => (`${index}` === key ? replaced(one, rest, by) : one));
  return { ...(value as object), [key]: replaced(part, rest, by) };
}

const payloads = [
  recordedWebhook("gitea", "label updated"),
  recordedWebhook("gitea", "closed"),
  recordedWebhook("gitea", "push"),
  recordedWebhook("gitea", "branch deleted"),
  recordedWebhook("gitea", "workflow requested"),
  recordedWebhook("gitlab", "merge request"),
  recordedWebhook("gitlab", "pipeline"),
].map(({ payload }) => ({ payload, paths: pathsOf(payload) }));

/** Values that are likely to break parsers, beside arbitrary ones. */
const poison = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<unknown>(null, {}, [], "", "\u0000", "\ud800", -1, 0, 1e300, 2 ** 53, true, "x".repeat(70_000)),
  fc.constantFrom<unknown>(
    ["x"],
    [null],
    [{ name: 1 }],
    { __proto__: null },
    "__proto__",
    "constructor",
    "refs/heads/",
  ),
);

describe.each(FORMATS)("the format $kind", ({ format, names }) => {
  const check = (eventName: string, payload: unknown) => {
    const { event, reason } = format.read({ eventName, deliveryId: undefined }, payload, { now });
    const stored = { ...event, ...(event.pullRequest && { pullRequest: { ...event.pullRequest, labels: [] } }) };
    expect(eventProblems(stored)).toEqual([]);
    expect(event.pullRequest?.labels.length ?? 0).toBeLessThanOrEqual(1000);
    expect(reason === undefined).toBe(event.type !== "other");
    expect((reason ?? "").length).toBeLessThanOrEqual(300);
  };
  const name = fc.oneof(fc.constantFrom(...names), fc.string({ maxLength: 64 }));

  test("reads any JSON as an event that fits its schema, or as none with a reason", () => {
    fc.assert(fc.property(name, fc.jsonValue(), check));
  });

  test("does so for payloads of which any part is another", () => {
    const broken = fc
      .constantFrom(...payloads)
      .chain(({ payload, paths }) =>
        fc
          .array(fc.tuple(fc.constantFrom(...paths), poison), { minLength: 1, maxLength: 3 })
          .map((changes) =>
            changes.reduce((value, [path, by]) => replacedWhereItIs(value, path, by), payload as unknown),
          ),
      );
    fc.assert(fc.property(fc.constantFrom(...names), broken, check), { numRuns: 300 });
  });
});

/** A path may be gone after an earlier change. */
function replacedWhereItIs(value: unknown, path: readonly string[], by: unknown): unknown {
  const exists = pathsOf(value).some((one) => one.join("\n") === path.join("\n"));
  return exists ? replaced(value, path, by) : value;
}

describe("a delivery of which one byte is another", () => {
  const secret = "a-secret-of-at-least-32-bytes-length";
  const signing = `whsec_${randomBytes(32).toString("base64")}`;
  const body = Buffer.from('{"ref":"refs/heads/main","object_kind":"push"}');
  const at = { now, replaySeconds: 300 };
  const hub = { "x-hub-signature-256": `sha256=${hmacOf(body, secret)}` };
  const signed: readonly { kind: string; format: WebhookFormat; key: string; headers: Record<string, string> }[] = [
    { kind: "github", format: githubWebhookFormat, key: secret, headers: hub },
    { kind: "neutral", format: neutralWebhookFormat, key: secret, headers: hub },
    { kind: "gitea", format: giteaWebhookFormat, key: secret, headers: { "x-gitea-signature": hmacOf(body, secret) } },
    {
      kind: "gitlab",
      format: gitlabWebhookFormat,
      key: signing,
      headers: standardWebhookHeaders(body, signing, { at: now }),
    },
  ];

  test.each(signed)("is not authentic: the body of $kind", ({ format, key, headers }) => {
    const keys = webhookKeys([key]);
    expect(isAuthentic(format, receivedWebhook(body, headers), keys, at)).toBe(true);
    const index = fc.nat({ max: body.length - 1 });
    fc.assert(
      fc.property(index, fc.integer({ min: 1, max: 255 }), (place, difference) => {
        const altered = Buffer.from(body);
        altered[place] = (altered[place] ?? 0) ^ difference;
        expect(isAuthentic(format, receivedWebhook(altered, headers), keys, at)).toBe(false);
      }),
    );
  });

  test.each(signed)("is not authentic: the headers of $kind", ({ format, key, headers }) => {
    const keys = webhookKeys([key]);
    for (const [header, value] of Object.entries(headers)) {
      for (let place = 0; place < value.length; place++) {
        const other = value[place] === "A" ? "B" : "A";
        const altered = { ...headers, [header]: value.slice(0, place) + other + value.slice(place + 1) };
        expect(isAuthentic(format, receivedWebhook(body, altered), keys, at)).toBe(false);
      }
    }
  });
});
