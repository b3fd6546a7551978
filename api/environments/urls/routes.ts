import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import type { Component } from "../../../crds/names.ts";
import type { ProbeResult } from "../../../operator/ports/url-prober.ts";
import { route } from "../../route.ts";
import { EnvironmentPath } from "../schemas.ts";
import { type UrlSettings, urlOf } from "../views.ts";
import { visibleEnvironment } from "../visible-environment.ts";
import { UrlCheckReply, UrlCheckReportReply } from "./schemas.ts";
import type { UrlCheck } from "./url-checks.ts";

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

/** Results of probing the components' URLs; unserved ones are unreachable. */
function toUrlCheck(
  environment: EphemeralEnvironment,
  { results, checkedAt }: UrlCheck,
  settings: UrlSettings,
): UrlCheckReply {
  const detail = (component: Component) => toHealth(urlOf(environment, component, settings), results[component]);
  const { metadata, spec } = environment;
  const frontend = spec.frontend === undefined ? {} : { frontend: detail("frontend") };
  const details = { backend: detail("backend"), ...frontend };
  const status = statusOfAll(Object.values(details));
  return { environment_id: metadata.uid, status, details, checked_at: checkedAt.toISOString() };
}

/** Results with the further hosts. */
function toUrlCheckReport(
  environment: EphemeralEnvironment,
  check: UrlCheck,
  settings: UrlSettings,
): UrlCheckReportReply {
  const ofComponents = toUrlCheck(environment, check, settings);
  if (check.hosts.length === 0) return ofComponents;
  const hosts = Object.fromEntries(check.hosts.map(({ name, url, result }) => [name, toHealth(url, result)]));
  const { details } = ofComponents;
  const status = statusOfAll([...Object.values(details), ...Object.values(hosts)]);
  return { ...ofComponents, status, details: { ...details, hosts } };
}

const toHealth = (url: string, result: ProbeResult | undefined) => ({
  url,
  status: result?.status ?? ("unreachable" as const),
  response_time_ms: result?.responseTimeMs ?? 0,
});

function statusOfAll(details: readonly Pick<UrlCheckReply, "status">[]): UrlCheckReply["status"] {
  if (details.every(({ status }) => status === "healthy")) return "healthy";
  return details.every(({ status }) => status === "unreachable") ? "unreachable" : "unhealthy";
}
