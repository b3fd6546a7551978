import { isPending, type WebhookDelivery } from "../../crds/webhooks/webhook-delivery.ts";
import { HttpError } from "../errors.ts";
import { feature, route } from "../route.ts";
import { toPage } from "../schemas/page.ts";
import {
  ApprovalPath,
  ApprovalRequest,
  DeliveryPage,
  DeliveryPath,
  DeliveryQuery,
  DeliveryReport,
  OutcomeReport,
  SimulateRequest,
  SimulationReport,
} from "./delivery-schemas.ts";
import { toOutcome, toReport, toSummary, toTrace } from "./delivery-views.ts";
import { isReadable, readableDelivery, readableRepository, visibleName, visibleOnly } from "./readable.ts";
import { answered } from "./refusals.ts";

const listDeliveries = route({
  endpoint: "GET /api/webhooks/deliveries",
  only: "v2",
  summary: "List webhook deliveries",
  description:
    "The stored deliveries of the repositories that the caller may use, the newest first; those without authentication, and of repositories that are gone, for maintainers alone.",
  access: { permission: "repos:read" },
  query: DeliveryQuery,
  reply: DeliveryPage,
  links: { "/api/webhooks/deliveries/{id}": "/items/0/id" },
})(({ query, caller }, services) => {
  const found = services.webhookDeliveries
    .list()
    .filter((delivery) => isSelected(delivery, query) && isReadable(delivery, caller, services));
  const visible = visibleOnly(caller, services);
  return toPage(found.sort(newestFirst), query, (delivery) => toSummary(delivery, visible));
});

const getDelivery = route({
  endpoint: "GET /api/webhooks/deliveries/{id}",
  only: "v2",
  summary: "Get a webhook delivery",
  description: "The delivery, its outcome, and the verdict of each rule.",
  access: { permission: "repos:read" },
  params: DeliveryPath,
  reply: DeliveryReport,
  errors: ["not-found"],
})(({ params, caller }, services) =>
  toReport(readableDelivery(params.id, caller, services), visibleOnly(caller, services)),
);

const redeliverWebhook = route({
  endpoint: "POST /api/webhooks/deliveries/{id}/redeliver",
  only: "v2",
  summary: "Act on a webhook delivery again",
  description: "Decides by the state of now what to do about a stored delivery, and does it. 409 for unverified ones.",
  access: { permission: "webhooks:manage" },
  params: DeliveryPath,
  reply: OutcomeReport,
  errors: ["not-found", "conflict", "unavailable"],
})(async ({ params, caller }, services) => {
  const delivery = readableDelivery(params.id, caller, services);
  if (!delivery.spec.verified) throw new HttpError("conflict", "An unverified event is never acted on");
  return toOutcome(await answered(services.webhookInbox.redeliver(delivery)), visibleOnly(caller, services));
});

const simulateWebhook = route({
  endpoint: "POST /api/webhooks/simulate",
  only: "v2",
  summary: "Simulate a webhook",
  description:
    "Computes the outcome of an event of a repository now, with the verdict of each rule. Nothing is stored, nothing is done, and no host is called: a companion repository counts as without a branch of the same name.",
  access: { permission: "repos:read" },
  body: SimulateRequest,
  reply: SimulationReport,
  errors: ["ENV_CONFIG_INVALID", "ENV_REPO_NOT_FOUND", "not-found"],
})(async ({ body, caller }, services) => {
  const repository = readableRepository(body.repository, caller, services);
  const { webhookInbox } = services;
  const { event, decisions, trace } = await webhookInbox.simulate({
    repository,
    eventName: body.event,
    payload: body.payload,
  });
  return {
    event: event.type,
    decisions: await Promise.all(
      decisions.map(async (one) => ({
        do: one.do,
        reason: one.reason,
        message: one.message ?? null,
        environment: await visibleName(one.environment, caller, services),
      })),
    ),
    trace: toTrace(trace),
  };
});

const approveCommit = route({
  endpoint: "POST /api/repos/{id}/pull-requests/{number}/approval",
  only: "v2",
  summary: "Approve a commit of a fork",
  description:
    "Lets the pull request of a fork have an environment of exactly this commit, where the repository's rules say `forks: approve`; every later commit needs an approval of its own.",
  access: { permission: "webhooks:manage" },
  params: ApprovalPath,
  body: ApprovalRequest,
  auditTarget: ({ params, body }) => `${params.id}#${params.number}@${body.commit}`,
  reply: OutcomeReport,
  errors: ["ENV_CONFIG_INVALID", "ENV_REPO_NOT_FOUND", "not-found", "unavailable"],
})(async ({ params, body, caller }, services) => {
  const repository = readableRepository(params.id, caller, services);
  const by = caller.email || caller.name || caller.subject;
  const approval = { repository, number: Number(params.number), commit: body.commit, by };
  return toOutcome(await answered(services.webhookInbox.approve(approval)), visibleOnly(caller, services));
});

function isSelected(delivery: WebhookDelivery, { repository, status, source, event }: DeliveryQuery): boolean {
  const { spec } = delivery;
  const phase = isPending(delivery) ? "pending" : delivery.status?.phase;
  const requested = [
    [status, phase],
    [source, spec.source],
    [event, spec.event.type],
  ] as const;
  const isOfRepository = repository === undefined || (spec.repositories?.includes(repository) ?? false);
  return isOfRepository && requested.every(([expected, is]) => expected === undefined || expected === is);
}

function newestFirst({ spec: one, metadata }: WebhookDelivery, { spec: other, metadata: beside }: WebhookDelivery) {
  if (one.receivedAt !== other.receivedAt) return one.receivedAt < other.receivedAt ? 1 : -1;
  return metadata.name < beside.name ? -1 : 1;
}

export const deliveryRoutes = feature("webhooks", {
  listDeliveries,
  getDelivery,
  redeliverWebhook,
  simulateWebhook,
  approveCommit,
});
