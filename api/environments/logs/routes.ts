import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import type { Component } from "../../../crds/names.ts";
import type { LogSelection } from "../../../operator/ports/facade/pod-logs.ts";
import { visibleTo } from "../../auth/access.ts";
import type { Caller } from "../../auth/callers.ts";
import { HttpError } from "../../http-error.ts";
import { route, type ServerEvent, type Services } from "../../route.ts";
import { visibleEnvironment } from "../visible-environment.ts";
import { DEFAULT_LINES, FollowHeaders, FollowPath, LogEntry, LogPath, LogQuery, LogReply } from "./schemas.ts";
import { toDeployerLogEntry, toLogEntry } from "./views.ts";

interface Concerned {
  readonly params: { readonly environment_id: string };
}

/** The newest lines of a component's pods, or what the deployer says of the application. */
const getLogs = route({
  method: "get",
  path: "/api/environments/{environment_id}/logs/{component}",
  operationId: "getLogs",
  summary: "Get a component's logs",
  description:
    "The newest lines of all pods and containers of the component, of those that were started again also from the run before. Lines of JSON are taken apart (an error beside the message is added to it), others are the message. For `argocd`: the conditions of the environment's application, its last operation, and what became of each resource.",
  tag: "environments",
  access: { permission: "environments:read" },
  rate: "caller",
  envelope: "v2",
  params: LogPath,
  query: LogQuery,
  auditTarget: ({ params }: Concerned) => params.environment_id,
  reply: LogReply,
  refusals: ["ENV_NOT_FOUND"],
  refuses: ["not-found"],
})(async ({ params: { environment_id, component }, query, caller }, platform) => {
  const environment = await visibleEnvironment(environment_id, caller, platform);
  const logs = await (component === "argocd"
    ? deployerEntries(environment, query, platform)
    : podEntries(environment, component, query, platform));
  return { component, logs, total_lines: logs.length };
});

/** The same lines, and then those that come, for as long as the environment is there for the caller. */
const followLogs = route({
  method: "get",
  path: "/api/environments/{environment_id}/logs/{component}/stream",
  operationId: "followLogs",
  summary: "Follow a component's logs",
  description:
    "The newest lines as server-sent events, then every line that is written, also by pods and containers that are started later: where to go on after it as `id`, a log entry as `data`. A comment comes every 15 seconds. The stream ends with the environment, with the caller's rights, when the service stops, and after 30 minutes: a client that comes again with `Last-Event-ID` goes on where it was; of several containers, whose nodes have clocks of their own, it may be told lines of 10 seconds again. At most 5 streams a caller.",
  tag: "environments",
  access: { permission: "environments:read" },
  rate: "caller",
  envelope: "never",
  only: "v2",
  events: true,
  params: FollowPath,
  query: LogQuery,
  headers: FollowHeaders,
  auditTarget: ({ params }: Concerned) => params.environment_id,
  reply: LogEntry,
  refusals: ["ENV_NOT_FOUND"],
  refuses: ["not-found"],
})(async ({ params: { environment_id, component }, query, headers, caller }, platform) => {
  const environment = await visibleEnvironment(environment_id, caller, platform);
  requireComponent(environment, component);
  const after = headers["Last-Event-ID"];
  const selection = { ...selectionOf(query), ...(after === undefined ? {} : { after }) };
  return async function* (signal): AsyncGenerator<ServerEvent<LogEntry>[]> {
    for await (const lines of platform.podLogs.follow(environment.metadata, component, { ...selection, signal })) {
      if (!(await isStillThere(environment, caller, platform))) return;
      yield lines.map((line) => ({ id: line.position, data: toLogEntry(line) }));
    }
  };
});

async function isStillThere({ metadata }: EphemeralEnvironment, caller: Caller, { environments }: Services) {
  const found = await environments.find(metadata.uid);
  return found !== undefined && visibleTo(caller)(found.spec);
}

async function podEntries(
  environment: EphemeralEnvironment,
  component: Component,
  query: LogQuery,
  { podLogs }: Services,
): Promise<LogEntry[]> {
  requireComponent(environment, component);
  const lines = await podLogs.tail(environment.metadata, component, selectionOf(query));
  return lines.map(toLogEntry);
}

async function deployerEntries(
  { metadata }: EphemeralEnvironment,
  query: LogQuery,
  { deployerLog, clock }: Services,
): Promise<LogEntry[]> {
  const { lines, sinceSeconds = Number.POSITIVE_INFINITY } = selectionOf(query);
  const fromMs = clock.now().getTime() - sinceSeconds * 1000;
  const entries = (await deployerLog.entries(metadata)).filter(({ at }) => at.getTime() >= fromMs);
  return entries.slice(-lines).map(toDeployerLogEntry);
}

function requireComponent({ spec }: EphemeralEnvironment, component: Component): void {
  if (spec[component] === undefined) throw new HttpError("not-found", `The environment has no ${component}`);
}

function selectionOf({ lines = DEFAULT_LINES, since }: LogQuery): LogSelection {
  return since === undefined ? { lines } : { lines, sinceSeconds: secondsOf(since) };
}

const UNIT_SECONDS = { d: 86_400, h: 3_600, m: 60, s: 1 } as const;

/** Of a duration such as 1h30m or 1.5h; the kubelet takes whole ones, and no less than one. */
function secondsOf(duration: string): number {
  const parts = [...duration.matchAll(/(\d+(?:[.]\d+)?)([dhms])/g)];
  const seconds = parts.map(([, count, unit]) => Number(count) * UNIT_SECONDS[unit as keyof typeof UNIT_SECONDS]);
  const sum = seconds.reduce((total, part) => total + part, 0);
  return Math.max(1, Math.ceil(sum));
}

export const environmentLogRoutes = [getLogs, followLogs] as const;
