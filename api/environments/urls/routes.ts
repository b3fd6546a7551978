import { route } from "../../route.ts";
import { EnvironmentPath } from "../schemas.ts";
import { visibleEnvironment } from "../visible-environment.ts";
import { UrlCheckReply, UrlCheckReportReply } from "./schemas.ts";
import { toUrlCheck, toUrlCheckReport } from "./views.ts";

const check = {
  endpoint: "GET /api/environments/{environment_id}/check-all-urls",
  summary: "Check an environment's URLs",
  description:
    "Probes every URL of the environment and reports how each answered. A URL that is down is part of the report and no error: the answer is 200.",
  access: { permission: "environments:read" },
  params: EnvironmentPath,
  errors: ["ENV_NOT_FOUND"],
} as const;

/** Probes the environment's URLs, or answers recent results; a failed probe is no error. */
export const checkAllUrls = route({ ...check, only: "v1", reply: UrlCheckReply })(
  async ({ params, caller }, services) => {
    const environment = await visibleEnvironment(params.environment_id, caller, services);
    return toUrlCheck(environment, await services.urlChecks.check(environment), services.settings);
  },
);

/** Version 2 of `checkAllUrls`. */
export const checkReportedUrls = route({
  ...check,
  only: "v2",
  operationId: "checkAllUrls",
  reply: UrlCheckReportReply,
})(async ({ params, caller }, services) => {
  const environment = await visibleEnvironment(params.environment_id, caller, services);
  return toUrlCheckReport(environment, await services.urlChecks.check(environment), services.settings);
});
