import { route } from "../../route.ts";
import { EnvironmentPath, EnvironmentReport } from "../schemas.ts";
import { reported } from "../views.ts";
import { visibleEnvironment } from "../visible-environment.ts";
import { requestedUpdate } from "./requested-update.ts";
import { UpdateRequest } from "./schemas.ts";

/** Protects, suspends or moves an environment. */
export const updateEnvironment = route({
  endpoint: "PATCH /api/environments/{environment_id}",
  summary: "Protect, suspend or move an environment",
  description:
    "Protects the environment from deletion and expiry, scales it to zero, or takes either back; a protection by a caller who is no maintainer ends 168 hours after the expiry, and only maintainers remove one without end. Moves it to another branch, commit or version of its config set. The running version stays until the new one is ready; secrets, URLs and expiry stay. The target is checked as at a creation. Only its pull request moves an environment of a pull request: 409.",
  access: { permission: "environments:update" },
  only: "v2",
  params: EnvironmentPath,
  body: UpdateRequest,
  reply: EnvironmentReport,
  errors: ["ENV_NOT_FOUND", "ENV_CONFIG_INVALID", "ENV_REPO_NOT_FOUND", "ENV_CREATION_FAILED", "conflict", "forbidden"],
})(async ({ params, body, caller }, services) => {
  const environment = await visibleEnvironment(params.environment_id, caller, services);
  const update = await requestedUpdate(body, { environment, caller }, services);
  return reported(await services.environments.update(environment, update), services);
});
