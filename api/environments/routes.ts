import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { expiryFor } from "../../crds/environment/lifetime.ts";
import { shownPhase } from "../../crds/environment/phase.ts";
import { ConfigInvalid, EnvironmentConflict, TtlExceeded } from "../../crds/errors.ts";
import type { RequestedReconcile } from "../../operator/ports/api/environments.ts";
import type { Caller } from "../auth/access.ts";
import { feature, route } from "../route.ts";
import { DEFAULT_LIMIT } from "../schemas/page.ts";
import type { Services } from "../services.ts";
import { cleanupFailedEnvironments } from "./cleanup/routes.ts";
import { createEnvironment, createReportedEnvironment } from "./creation/routes.ts";
import { resetDatabase } from "./database/routes.ts";
import { environmentQuery, ListQuery, ListReportQuery } from "./list-query.ts";
import { followLogs, getLogs, getReportedLogs } from "./logs/routes.ts";
import {
  EnvironmentDetail,
  EnvironmentPath,
  EnvironmentReport,
  ExtendReply,
  ExtendRequest,
  ListReply,
  ListReportReply,
  MessageReply,
} from "./schemas.ts";
import { followEnvironment, followEnvironments } from "./streams/routes.ts";
import { updateEnvironment } from "./update/routes.ts";
import { checkAllUrls, checkReportedUrls } from "./urls/routes.ts";
import { reported, toDetail, toLifetime, toListed, toListedReport } from "./views.ts";
import { visibleEnvironment } from "./visible-environment.ts";
import { listWorkloads } from "./workloads/routes.ts";

/** An unchanged environment is reconciled sooner; a caller who needs longer reads its status again. */
const RECONCILE_WAIT_MS = 5_000;

const readPage = {
  endpoint: "GET /api/environments",
  summary: "List environments",
  description: "Lists the environments that are accessible to the current user, newest first.",
  access: { permission: "environments:read" },
  links: { "/api/environments/{environment_id}": "/environments/0/id" },
} as const;

const listEnvironments = route({ ...readPage, only: "v1", query: ListQuery, reply: ListReply })(
  ({ query, caller }, services) => pageOf(query, caller, services, toListed),
);

const listReportedEnvironments = route({
  ...readPage,
  only: "v2",
  operationId: "listEnvironments",
  query: ListReportQuery,
  reply: ListReportReply,
})(({ query, caller }, services) => pageOf(query, caller, services, toListedReport));

function pageOf<T>(
  query: ListReportQuery,
  caller: Caller,
  { environments, settings }: Services,
  view: (environment: EphemeralEnvironment, settings: Services["settings"]) => T,
) {
  const { limit = DEFAULT_LIMIT, offset = 0 } = query;
  const { items, total } = environments.page({ ...environmentQuery(query, caller), limit, offset });
  return { environments: items.map((environment) => view(environment, settings)), total, limit, offset };
}

const readOne = {
  endpoint: "GET /api/environments/{environment_id}",
  summary: "Get an environment",
  description: "The environment, by its id or its name.",
  access: { permission: "environments:read" },
  params: EnvironmentPath,
  errors: ["ENV_NOT_FOUND"],
} as const;

const getEnvironment = route({ ...readOne, only: "v1", reply: EnvironmentDetail })(
  async ({ params, caller }, services) =>
    toDetail(await visibleEnvironment(params.environment_id, caller, services), services.settings),
);

const reportEnvironment = route({ ...readOne, only: "v2", operationId: "getEnvironment", reply: EnvironmentReport })(
  async ({ params, caller }, services) =>
    reported(await visibleEnvironment(params.environment_id, caller, services), services),
);

/** Moves the expiry; the reason stays on the resource. */
const extendEnvironment = route({
  endpoint: "PUT /api/environments/{environment_id}",
  summary: "Update an environment or extend its TTL",
  description:
    "Sets the TTL; `expires_at` moves to the creation plus the new TTL. `description` is the reason, kept for the audit trail.",
  access: { permission: "environments:update" },
  params: EnvironmentPath,
  body: ExtendRequest,
  auditReason: ({ body }) => body.description || undefined,
  reply: ExtendReply,
  errors: ["ENV_NOT_FOUND", "ENV_TTL_EXCEEDED", "ENV_CONFIG_INVALID", "conflict"],
})(async ({ params, body, caller }, services) => {
  const { environments, settings, clock } = services;
  if (body.ttl_hours > settings.ttl.maximumHours) throw new TtlExceeded(settings.ttl.maximumHours);
  const environment = await visibleEnvironment(params.environment_id, caller, services);
  if (environment.metadata.deletionTimestamp !== undefined) {
    throw new EnvironmentConflict("The environment is being deleted");
  }
  if (expiryFor(environment, body.ttl_hours) <= clock.now()) {
    throw new ConfigInvalid([{ field: "ttl_hours", message: "the environment would have expired already" }]);
  }
  const note = body.description ? { note: body.description } : {};
  const extended = await environments.extend(environment, { ttlHours: body.ttl_hours, ...note });
  return { status: "success", environment: toLifetime(extended) };
});

/** Starts the deletion; a repeated request meanwhile succeeds. */
const deleteEnvironment = route({
  endpoint: "DELETE /api/environments/{environment_id}",
  summary: "Delete an environment",
  description:
    "Initiates the deletion of the environment and of all its resources: its applications, its secrets, its namespace. It is complete when the environment is not found any more; asking again meanwhile is fine.",
  access: { permission: "environments:delete" },
  params: EnvironmentPath,
  reply: MessageReply,
  errors: ["ENV_NOT_FOUND", "conflict"],
})(async ({ params, caller }, services) => {
  const environment = await visibleEnvironment(params.environment_id, caller, services);
  await services.environments.remove(environment, { cause: "deletedByUser" });
  return { status: "success", message: `Deletion of environment '${environment.metadata.name}' initiated` };
});

const reconcileEnvironmentStatus = route({
  endpoint: "POST /api/environments/{environment_id}/reconcile-status",
  summary: "Force a status reconciliation",
  description:
    "Checks everything of the environment again, probes its URLs, repairs drift, and brings its status up to date. It waits for that for five seconds; the message says whether it is done or goes on. One reconciliation serves all requests within five seconds. An environment that is being deleted is reconciled, too.",
  access: { permission: "environments:update" },
  params: EnvironmentPath,
  reply: MessageReply,
  errors: ["ENV_NOT_FOUND"],
})(async ({ params, caller }, services) => {
  const environment = await visibleEnvironment(params.environment_id, caller, services);
  const reconcile = await services.environments.reconcile(environment, { withinMs: RECONCILE_WAIT_MS });
  return { status: "success", message: messageOf(reconcile) };
});

function messageOf({ state, environment }: RequestedReconcile): string {
  const about = `environment '${environment.metadata.name}'`;
  if (state === "gone") return `Status reconciled: ${about} is deleted`;
  const status = shownPhase(environment);
  if (state === "answered") return `Status reconciled: ${about} is ${status}`;
  return `Status reconciliation of ${about} goes on; it was ${status} when last seen`;
}

export const environmentRoutes = feature("environments", {
  createEnvironment,
  createReportedEnvironment,
  listEnvironments,
  listReportedEnvironments,
  followEnvironments,
  getEnvironment,
  reportEnvironment,
  followEnvironment,
  extendEnvironment,
  updateEnvironment,
  resetDatabase,
  deleteEnvironment,
  checkAllUrls,
  checkReportedUrls,
  listWorkloads,
  getLogs,
  getReportedLogs,
  followLogs,
  reconcileEnvironmentStatus,
  cleanupFailedEnvironments,
});
