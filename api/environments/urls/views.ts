import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import type { Component } from "../../../crds/names.ts";
import type { ProbeResult } from "../../../operator/ports/url-prober.ts";
import { type UrlSettings, urlOf } from "../views.ts";
import type { UrlCheckReply, UrlCheckReportReply } from "./schemas.ts";
import type { UrlCheck } from "./url-checks.ts";

/** Results of probing the components' URLs; unserved ones are unreachable. */
export function toUrlCheck(
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
export function toUrlCheckReport(
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
