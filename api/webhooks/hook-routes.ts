import type { Repository } from "../../crds/repository/repository.ts";
import type { WebhookDelivery } from "../../crds/webhooks/webhook-delivery.ts";
import type { CheckedHook } from "../../operator/ports/api/webhook-registrar.ts";
import type { Caller } from "../auth/access.ts";
import { RepositoryPath } from "../repositories/schemas.ts";
import { feature, route } from "../route.ts";
import type { Services } from "../services.ts";
import { HookReport } from "./hook-schemas.ts";
import { isReadable, readableRepository } from "./readable.ts";
import { answered } from "./refusals.ts";

const getHook = route({
  endpoint: "GET /api/repos/{id}/webhook",
  only: "v2",
  summary: "Check the webhook of a repository",
  description:
    "Reads from the repository's host which of its hooks deliver to the service, and reports problems and remedies. The host is called at most every 15 seconds.",
  access: { permission: "repos:read" },
  params: RepositoryPath,
  reply: HookReport,
  errors: ["ENV_REPO_NOT_FOUND", "not-found"],
})(({ params, caller }, services) => reportOf(readableRepository(params.id, caller, services), caller, services));

const repairHook = route({
  endpoint: "POST /api/repos/{id}/webhook",
  only: "v2",
  summary: "Register or repair the webhook of a repository",
  description:
    "Leaves the repository with one hook for the service on its host: active, with the events that the service reads, in JSON, with checked certificates, and signed with the repository's key. Where the host changes no keys (Gitea), a new hook replaces the former one. Hooks of other addresses stay. 409 says what has to be set before.",
  access: { permission: "webhooks:manage" },
  params: RepositoryPath,
  reply: HookReport,
  errors: ["ENV_REPO_NOT_FOUND", "not-found", "conflict", "unavailable"],
})(async ({ params, caller }, services) => {
  const repository = readableRepository(params.id, caller, services);
  await answered(services.webhookRegistrar.register(repository));
  // A check updates its condition.
  await services.repositoryReloads.request(repository);
  return reportOf(repository, caller, services);
});

async function reportOf(repository: Repository, caller: Caller, services: Services): Promise<HookReport> {
  const { name } = repository.metadata;
  const { host, address, hooks, problems } = await services.webhookRegistrar.check(repository);
  const stored = services.webhookDeliveries
    .list()
    .filter((one) => one.spec.repositories?.includes(name) && one.spec.verified && isReadable(one, caller, services));
  return {
    repository: name,
    host: host ?? null,
    address: address ?? null,
    hooks: hooks.map(toHook),
    last_received: receivedOf(stored),
    problems: problems.map(({ reason, message, remedy }) => ({ reason, message, next_step: remedy })),
  };
}

function toHook({ id, address, isHere, state, events, lastDelivery }: CheckedHook): HookReport["hooks"][number] {
  const { at, answer, isAccepted } = lastDelivery ?? {};
  const last = answer === undefined ? null : { at: at ?? null, answer, accepted: isAccepted ?? false };
  return { id, address, here: isHere, state, events: [...events], last_delivery: last };
}

function receivedOf(stored: readonly WebhookDelivery[]): HookReport["last_received"] {
  const [first, ...others] = stored;
  if (first === undefined) return null;
  const newest = others.reduce((one, other) => (other.spec.receivedAt > one.spec.receivedAt ? other : one), first);
  const { eventName, receivedAt } = newest.spec;
  return { id: newest.metadata.name, event_name: eventName, received_at: new Date(receivedAt).toISOString() };
}

export const hookRoutes = feature("webhooks", { getHook, repairHook });
