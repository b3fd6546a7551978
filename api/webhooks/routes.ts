import { randomUUID } from "node:crypto";
import type { Outcome, UnverifiedEvent } from "../../operator/ports/api/webhook-inbox.ts";
import { HttpError } from "../errors.ts";
import type { ArrivingBody, RawBody } from "../input/raw-body.ts";
import { feature, route } from "../route.ts";
import type { Services } from "../services.ts";
import { isReadable } from "./readable.ts";
import { answered } from "./refusals.ts";
import {
  EnvironmentEventBody,
  EnvironmentEventReply,
  GenericBody,
  GenericReply,
  PipelineBody,
  PipelineHeaders,
  PipelineReply,
  PipelineTest,
  RepohostBody,
  RepohostHeaders,
  RepohostReply,
} from "./schemas.ts";
import { toPipelineReply, toPipelineTest, toRepohostReply } from "./views.ts";

const receiveRepohostEvent = route({
  endpoint: "POST /api/webhooks/repohost",
  summary: "Receive an event of a repository host",
  description:
    "Takes pull requests, pushes, workflow runs, merge groups and pings. A pull request that qualifies gets an environment, which follows its commits and goes when it is closed. Which headers and which body are expected follows the repository's host in the settings, never the headers; those described here are for repositories without a host. An event about which nothing is to be done is answered 200, with the reason. A body may have 25 MiB, where the installation sets nothing else; what is refused for its size is recorded.",
  access: "public",
  rate: "sender",
  headers: RepohostHeaders,
  body: RepohostBody,
  reply: RepohostReply,
})(async ({ body }, services) => {
  const outcome = await intake("repohost", body, services);
  if (outcome.reason === "Ping") return { status: "pong" as const, message: outcome.message };
  return toRepohostReply(outcome);
});

const receivePipelineEvent = route({
  endpoint: "POST /api/webhooks/pipelinehost/pipeline",
  summary: "Receive an event of a pipeline host",
  description:
    "Takes the reports of pipelines: success creates or updates environments with the image of its commit, failed marks them failed, canceled cleans up what the pipeline made, running is shown as building. Which headers are expected follows the repository's host in the settings. An event about which nothing is to be done is answered 200, with the reason.",
  access: "public",
  rate: "sender",
  headers: PipelineHeaders,
  body: PipelineBody,
  reply: PipelineReply,
})(async ({ body }, services) => toPipelineReply(await intake("pipelinehost", body, services)));

async function intake(
  source: "repohost" | "pipelinehost",
  { chunks, headers, countFor }: ArrivingBody,
  { webhookInbox }: Services,
): Promise<Outcome> {
  const webhook = await answered(webhookInbox.verify({ source, chunks, headers }));
  await countFor(`${webhook.host ?? ""}/${webhook.sender}`);
  return answered(webhookInbox.accept(webhook));
}

/** Records events of any sender. */
const receiveGenericEvent = route({
  endpoint: "POST /api/webhooks/generic",
  summary: "Receive a generic event",
  description:
    "Takes any JSON value. It is recorded, marked as unverified, and never acted on; beyond a few a second it is answered and not recorded.",
  access: "public",
  rate: "webhook",
  body: GenericBody,
  reply: GenericReply,
})(async ({ body }, services) => {
  const webhook_id = randomUUID();
  await services.webhookInbox.note({ source: "generic", id: webhook_id, bytes: body.bytes, ...genericEvent(body) });
  return { status: "received" as const, message: "Event received", webhook_id };
});

/** Records events about environments, of any sender. */
const receiveEnvironmentEvent = route({
  endpoint: "POST /api/webhooks/environment/event",
  summary: "Receive an event of an environment",
  description:
    "Takes a sender's event about an environment, known or not: it is recorded, marked as unverified, and changes no environment; beyond a few a second it is answered and not recorded.",
  access: "public",
  rate: "webhook",
  body: EnvironmentEventBody,
  reply: EnvironmentEventReply,
})(async ({ body }, services) => {
  const event = { source: "environment", id: randomUUID(), bytes: body.bytes, ...environmentEvent(body) } as const;
  const channels = await services.webhookInbox.note(event);
  return { status: "received" as const, message: "Event received", notifications_sent: [...channels] };
});

const testPipelineWebhook = route({
  endpoint: "GET /api/webhooks/pipelinehost/test",
  summary: "Test the pipeline webhook",
  description: "Shows the configuration of a token, the needs of an event, and the time of the last one.",
  access: { permission: "repos:read" },
  reply: PipelineTest,
})(({ caller }, services) => {
  const { settings, repositories, webhookDeliveries } = services;
  const seen = webhookDeliveries
    .list()
    .filter((one) => one.spec.source === "pipelinehost" && isReadable(one, caller, services))
    .map(({ spec }) => spec.receivedAt);
  const isConfigured =
    settings.webhooks.pipelineTokens.length > 0 ||
    repositories.list().some(({ spec }) => spec.webhookSecretRef !== undefined);
  return toPipelineTest(settings, { isConfigured, lastAt: seen.sort().at(-1) });
});

export const webhookRoutes = feature(
  "webhooks",
  {
    receiveRepohostEvent,
    receivePipelineEvent,
    receiveGenericEvent,
    receiveEnvironmentEvent,
    testPipelineWebhook,
  },
  { envelope: "never" },
);

type Fields = Readonly<Record<string, unknown>>;
type Sent = Pick<UnverifiedEvent, "eventName" | "message">;

/** Characters that a terminal or a page could take for a command. */
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;
const FIELD_MAX_LENGTH = 100;

/** Content of a generic webhook. @throws HttpError (malformed) */
function genericEvent({ bytes }: RawBody): Sent {
  const fields = fieldsOf(bytes);
  return {
    eventName: text(fields, "event") || text(fields, "event_type") || "generic",
    message: text(fields, "message", 500),
  };
}

const REPORTED_FIELDS = ["environment_name", "environment_id", "status", "repository", "branch", "commit_sha"] as const;

/** Content of an environment's event. @throws HttpError (malformed) */
function environmentEvent({ bytes }: RawBody): Sent {
  const fields = fieldsOf(bytes);
  const fieldTexts = REPORTED_FIELDS.flatMap((name) =>
    text(fields, name) === "" ? [] : [`${name}=${text(fields, name)}`],
  );
  return { eventName: text(fields, "event_type") || "environment", message: fieldTexts.join(" ") };
}

/** Fields of a body; none for a JSON value that is no object. */
function fieldsOf(bytes: Buffer): Fields {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Fields) : {};
  } catch (cause) {
    throw new HttpError("malformed", "The body is not valid JSON", { cause });
  }
}

function text(fields: Fields, name: string, most = FIELD_MAX_LENGTH): string {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return typeof value === "string" ? value.slice(0, most).replaceAll(CONTROLS, " ").trim() : "";
}
