import { route } from "../../route.ts";
import { CreateReply } from "../schemas.ts";
import { toCreated } from "../views.ts";
import { createEnvironment as create } from "./create-environment.ts";
import { CreateHeaders, CreateRequest } from "./schemas.ts";

/** Creates an environment; answers as soon as the resource exists. */
export const createEnvironment = route({
  endpoint: "POST /api/environments",
  summary: "Create an environment",
  description:
    "Creates an environment: a temporary, isolated instance of a backend and optionally a frontend, in a namespace of its own, until its TTL is over. It answers as soon as the creation has begun, with the status `creating`; the environment is there when its status is `ready`. The body may also be form-encoded, with the same field names and `config_overrides` as JSON. `frontend_branch` and `frontend_commit` mean nothing without `frontend_repo`.",
  access: { permission: "environments:create" },
  headers: CreateHeaders,
  body: CreateRequest,
  forms: true,
  auditTarget: ({ body }) => body.environment_name,
  reply: CreateReply,
  links: { "/api/environments/{environment_id}": "/environment/id" },
  errors: [
    ...(["ENV_NAME_EXISTS", "ENV_TTL_EXCEEDED", "ENV_CONFIG_INVALID", "ENV_REPO_NOT_FOUND"] as const),
    ...(["ENV_CREATION_FAILED", "conflict"] as const),
  ],
})(async ({ body, headers, caller }, services) => {
  const environment = await create({ body, caller, key: headers["Idempotency-Key"] }, services);
  return { status: "success", environment: toCreated(environment, services.settings) };
});
