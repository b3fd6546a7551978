import { expiryFor } from "../../crds/environment/lifetime.ts";
import { ConfigInvalid, EnvironmentConflict, TtlExceeded } from "../../crds/errors.ts";
import { concerning } from "../request-context.ts";
import { route } from "../route.ts";
import { DEFAULT_LIMIT } from "../schemas/page.ts";
import { createRequested } from "./creation/create-environment.ts";
import { environmentQuery } from "./list-query.ts";
import { EnvironmentReport, SwitchRequest } from "./report.schemas.ts";
import {
  CreateHeaders,
  CreateReply,
  CreateRequest,
  EnvironmentDetail,
  EnvironmentPath,
  ExtendReply,
  ExtendRequest,
  ListQuery,
  ListReply,
  MessageReply,
} from "./schemas.ts";
import { toCreated, toDetail, toLifetime, toListed, toReport } from "./views.ts";
import { visibleEnvironment } from "./visible-environment.ts";

interface Concerned {
  readonly params: { readonly environment_id: string };
  readonly body: { readonly environment_name: string };
}

interface Reasoned {
  readonly body: { readonly description?: string };
}

/** Asks for a new environment; it answers as soon as the resource exists. */
const createEnvironment = route({
  method: "post",
  path: "/api/environments",
  operationId: "createEnvironment",
  summary: "Create an environment",
  description:
    "Creates an environment: a temporary, isolated instance of a backend and optionally a frontend, in a namespace of its own, until its TTL is over. It answers as soon as the creation has begun, with the status `creating`; the environment is there when its status is `ready`. The body may also be form-encoded, with the same field names and `config_overrides` as JSON. `frontend_branch` and `frontend_commit` mean nothing without `frontend_repo`.",
  tag: "environments",
  access: { permission: "environments:create" },
  rate: "caller",
  envelope: "v2",
  headers: CreateHeaders,
  body: CreateRequest,
  forms: true,
  auditTarget: ({ body }: Concerned) => body.environment_name,
  reply: CreateReply,
  links: { "/api/environments/{environment_id}": "/environment/id" },
  refusals: ["ENV_NAME_EXISTS", "ENV_TTL_EXCEEDED", "ENV_CONFIG_INVALID", "ENV_REPO_NOT_FOUND", "ENV_CREATION_FAILED"],
  refuses: ["conflict"],
})(async ({ body, headers, caller }, platform) => {
  const environment = concerning(await createRequested({ body, caller, key: headers["Idempotency-Key"] }, platform));
  return { status: "success", environment: toCreated(environment, platform.settings) };
});

/** A page of the environments that the caller sees. */
const listEnvironments = route({
  method: "get",
  path: "/api/environments",
  operationId: "listEnvironments",
  summary: "List environments",
  description: "Lists the environments that are accessible to the current user, newest first.",
  tag: "environments",
  access: { permission: "environments:read" },
  rate: "caller",
  envelope: "v2",
  query: ListQuery,
  reply: ListReply,
  links: { "/api/environments/{environment_id}": "/environments/0/id" },
  refusals: [],
})(({ query, caller }, { environments, settings }) => {
  const { limit = DEFAULT_LIMIT, offset = 0 } = query;
  const { items, total } = environments.page({ ...environmentQuery(query, caller), limit, offset });
  return { environments: items.map((environment) => toListed(environment, settings)), total, limit, offset };
});

const oneEnvironment = {
  method: "get",
  path: "/api/environments/{environment_id}",
  operationId: "getEnvironment",
  summary: "Get an environment",
  description: "The environment, by its id or its name.",
  tag: "environments",
  access: { permission: "environments:read" },
  rate: "caller",
  params: EnvironmentPath,
  refusals: ["ENV_NOT_FOUND"],
} as const;

/** One environment in full. */
const getEnvironment = route({
  ...oneEnvironment,
  envelope: "v2",
  only: "v1",
  reply: EnvironmentDetail,
})(async ({ params, caller }, platform) => {
  return toDetail(await visibleEnvironment(params.environment_id, caller, platform), platform.settings);
});

/** The same with what goes beyond version 1. */
const reportEnvironment = route({
  ...oneEnvironment,
  envelope: "v2",
  only: "v2",
  reply: EnvironmentReport,
})(async ({ params, caller }, platform) => {
  return toReport(await visibleEnvironment(params.environment_id, caller, platform), platform.settings);
});

/** Moves the expiry of a living environment; the reason stays on the resource for the audit trail. */
const extendEnvironment = route({
  method: "put",
  path: "/api/environments/{environment_id}",
  operationId: "extendEnvironment",
  summary: "Update an environment or extend its TTL",
  description:
    "Sets the TTL; `expires_at` moves to the creation plus the new TTL. `description` is the reason, kept for the audit trail.",
  tag: "environments",
  access: { permission: "environments:update" },
  rate: "caller",
  envelope: "v2",
  params: EnvironmentPath,
  body: ExtendRequest,
  auditTarget: ({ params }: Concerned) => params.environment_id,
  auditReason: ({ body }: Reasoned) => body.description || undefined,
  reply: ExtendReply,
  refusals: ["ENV_NOT_FOUND", "ENV_TTL_EXCEEDED", "ENV_CONFIG_INVALID"],
  refuses: ["conflict"],
})(async ({ params, body, caller }, platform) => {
  const { environments, settings, clock } = platform;
  if (body.ttl_hours > settings.ttl.maximumHours) throw new TtlExceeded(settings.ttl.maximumHours);
  const environment = await visibleEnvironment(params.environment_id, caller, platform);
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

/** Protects or suspends an environment, or takes that back. */
const switchEnvironment = route({
  method: "patch",
  path: "/api/environments/{environment_id}",
  operationId: "switchEnvironment",
  summary: "Protect, suspend or wake an environment",
  description: "Protects the environment from deletion and expiry, scales it to zero, or takes either back.",
  tag: "environments",
  access: { permission: "environments:update" },
  rate: "caller",
  envelope: "v2",
  only: "v2",
  params: EnvironmentPath,
  body: SwitchRequest,
  auditTarget: ({ params }: Concerned) => params.environment_id,
  reply: EnvironmentReport,
  refusals: ["ENV_NOT_FOUND", "ENV_CONFIG_INVALID"],
  refuses: ["conflict"],
})(async ({ params, body, caller }, platform) => {
  const environment = await visibleEnvironment(params.environment_id, caller, platform);
  return toReport(await platform.environments.setSwitches(environment, body), platform.settings);
});

/** Starts the deletion; asking again while it goes on is fine. */
const deleteEnvironment = route({
  method: "delete",
  path: "/api/environments/{environment_id}",
  operationId: "deleteEnvironment",
  summary: "Delete an environment",
  description:
    "Initiates the deletion of the environment and of all its resources: its applications, its secrets, its namespace. It is over when the environment is not found any more; asking again meanwhile is fine.",
  tag: "environments",
  access: { permission: "environments:delete" },
  rate: "caller",
  envelope: "v2",
  params: EnvironmentPath,
  auditTarget: ({ params }: Concerned) => params.environment_id,
  reply: MessageReply,
  refusals: ["ENV_NOT_FOUND"],
  refuses: ["conflict"],
})(async ({ params, caller }, platform) => {
  const environment = await visibleEnvironment(params.environment_id, caller, platform);
  await platform.environments.remove(environment);
  return { status: "success", message: `Deletion of environment '${environment.metadata.name}' initiated` };
});

export const environmentRoutes = [
  createEnvironment,
  listEnvironments,
  getEnvironment,
  reportEnvironment,
  extendEnvironment,
  switchEnvironment,
  deleteEnvironment,
] as const;
