import { route } from "../../route.ts";
import { EnvironmentPath } from "../schemas.ts";
import { visibleEnvironment } from "../visible-environment.ts";
import { UrlCheckReply } from "./schemas.ts";
import { toUrlCheck } from "./views.ts";

/** Asks the environment's URLs now, or answers what they said a moment ago; that one is down is a finding, no failure. */
const checkAllUrls = route({
  method: "get",
  path: "/api/environments/{environment_id}/check-all-urls",
  operationId: "checkAllUrls",
  summary: "Check an environment's URLs",
  description:
    "Asks every URL of the environment and answers how each did. That one is down is a finding, no failure: the answer is 200.",
  tag: "environments",
  access: { permission: "environments:read" },
  rate: "caller",
  envelope: "v2",
  params: EnvironmentPath,
  reply: UrlCheckReply,
  refusals: ["ENV_NOT_FOUND"],
})(async ({ params, caller }, platform) => {
  const environment = await visibleEnvironment(params.environment_id, caller, platform);
  return toUrlCheck(environment, await platform.urlChecks.check(environment), platform.settings);
});

export const environmentUrlRoutes = [checkAllUrls] as const;
