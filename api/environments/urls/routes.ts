import { route } from "../../route.ts";
import { EnvironmentPath } from "../schemas.ts";
import { visibleEnvironment } from "../visible-environment.ts";
import { UrlCheckReply } from "./schemas.ts";
import { toUrlCheck } from "./views.ts";

/** Probes the environment's URLs now, or answers the results of a moment ago; a URL that is down is no error. */
export const checkAllUrls = route({
  endpoint: "GET /api/environments/{environment_id}/check-all-urls",
  summary: "Check an environment's URLs",
  description:
    "Probes every URL of the environment and reports how each answered. A URL that is down is part of the report and no error: the answer is 200.",
  access: { permission: "environments:read" },
  params: EnvironmentPath,
  reply: UrlCheckReply,
  errors: ["ENV_NOT_FOUND"],
})(async ({ params, caller }, services) => {
  const environment = await visibleEnvironment(params.environment_id, caller, services);
  return toUrlCheck(environment, await services.urlChecks.check(environment), services.settings);
});
