import { route } from "../../route.ts";
import { reported } from "../reported.ts";
import { EnvironmentPath, EnvironmentReport } from "../schemas.ts";
import { visibleEnvironment } from "../visible-environment.ts";
import { UpdateRequest } from "./schemas.ts";
import { wantedUpdate } from "./wanted-update.ts";

/** Protects, suspends or moves an environment. */
export const updateEnvironment = route({
  endpoint: "PATCH /api/environments/{environment_id}",
  summary: "Protect, suspend or move an environment",
  description:
    "Protects the environment from deletion and expiry, scales it to zero, or takes either back; a protection by a caller who is no maintainer ends 168 hours after the expiry, and maintainers alone remove one without end. Moves it to another branch, commit or version of its config set. What runs stays until the new version is ready; secrets, URLs and expiry stay. What is moved to is checked as at a creation. An environment of a pull request is moved by its pull request alone: 409.",
  access: { permission: "environments:update" },
  only: "v2",
  params: EnvironmentPath,
  body: UpdateRequest,
  reply: EnvironmentReport,
  errors: ["ENV_NOT_FOUND", "ENV_CONFIG_INVALID", "ENV_REPO_NOT_FOUND", "ENV_CREATION_FAILED", "conflict", "forbidden"],
})(async ({ params, body, caller }, services) => {
  const environment = await visibleEnvironment(params.environment_id, caller, services);
  const update = await wantedUpdate(body, { environment, caller }, services);
  return reported(await services.environments.update(environment, update), services);
});
