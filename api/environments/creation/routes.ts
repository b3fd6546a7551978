import type { Caller } from "../../auth/access.ts";
import { toEnvironmentCost } from "../../costs/environment-cost.ts";
import { route } from "../../route.ts";
import type { Services } from "../../services.ts";
import { CreateReply, CreateReportReply } from "../schemas.ts";
import { toCreated } from "../views.ts";
import { createFromRequest } from "./create-environment.ts";
import { CreateHeaders, CreateReportRequest, CreateRequest } from "./schemas.ts";

const creation = {
  endpoint: "POST /api/environments",
  summary: "Create an environment",
  description:
    "Creates an environment: a temporary, isolated instance of a backend and optionally a frontend, in a namespace of its own, until its TTL is over. It answers as soon as the creation has begun, with the status `creating`; the environment is there when its status is `ready`. The body may also be form-encoded, with the same field names and `config_overrides` as JSON. `frontend_branch` and `frontend_commit` mean nothing without `frontend_repo`.",
  access: { permission: "environments:create" },
  headers: CreateHeaders,
  forms: true,
  auditTarget: ({ body }: { readonly body: CreateReportRequest }) => body.environment_name,
  links: { "/api/environments/{environment_id}": "/environment/id" },
  errors: [
    ...(["ENV_NAME_EXISTS", "ENV_TTL_EXCEEDED", "ENV_CONFIG_INVALID", "ENV_REPO_NOT_FOUND"] as const),
    ...(["ENV_CREATION_FAILED", "conflict"] as const),
  ],
} as const;

interface Requested {
  readonly body: CreateReportRequest;
  readonly headers: CreateHeaders;
  readonly caller: Caller;
}

const created = ({ body, headers, caller }: Requested, services: Services) =>
  createFromRequest({ body, caller, key: headers["Idempotency-Key"] }, services);

/** Creates an environment; answers once the resource exists. */
export const createEnvironment = route({ ...creation, only: "v1", body: CreateRequest, reply: CreateReply })(
  async (requested, services) => ({
    status: "success",
    environment: toCreated(await created(requested, services), services.settings),
  }),
);

/** Version 2 of `createEnvironment`: with its expected cost. */
export const createReportedEnvironment = route({
  ...creation,
  only: "v2",
  operationId: "createEnvironment",
  body: CreateReportRequest,
  reply: CreateReportReply,
})(async (requested, services) => {
  const environment = await created(requested, services);
  const cost = toEnvironmentCost(environment, services);
  return { status: "success", environment: { ...toCreated(environment, services.settings), cost } };
});
