import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import type { Component } from "../../../crds/names.ts";
import { type UrlSettings, urlOf } from "../views.ts";
import type { UrlCheckReply } from "./schemas.ts";
import type { UrlCheck } from "./url-checks.ts";

/** The results of probing an environment's URLs; one that is not served yet is unreachable. */
export function toUrlCheck(
  environment: EphemeralEnvironment,
  { results, checkedAt }: UrlCheck,
  settings: UrlSettings,
): UrlCheckReply {
  const detail = (component: Component) => ({
    url: urlOf(environment, component, settings),
    status: results[component]?.status ?? ("unreachable" as const),
    response_time_ms: results[component]?.responseTimeMs ?? 0,
  });
  const { metadata, spec } = environment;
  const frontend = spec.frontend === undefined ? {} : { frontend: detail("frontend") };
  const details = { backend: detail("backend"), ...frontend };
  const status = statusOfAll(Object.values(details));
  return { environment_id: metadata.uid, status, details, checked_at: checkedAt.toISOString() };
}

function statusOfAll(details: readonly Pick<UrlCheckReply, "status">[]): UrlCheckReply["status"] {
  if (details.every(({ status }) => status === "healthy")) return "healthy";
  return details.every(({ status }) => status === "unreachable") ? "unreachable" : "unhealthy";
}
