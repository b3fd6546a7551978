import type { Static } from "typebox";
import { MINUTE_MS } from "../../../crds/durations.ts";
import { selectorsOf } from "../../../crds/environment/component-selectors.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import type { Component } from "../../../crds/names.ts";
import { titleOf } from "../../../crds/object-title.ts";
import type { LogSelection, LogTarget } from "../../../operator/ports/api/pods.ts";
import { type Caller, visibleTo } from "../../auth/access.ts";
import { HttpError } from "../../errors.ts";
import { route, type ServerEvent } from "../../route.ts";
import type { Services } from "../../services.ts";
import { visibleEnvironment } from "../visible-environment.ts";
import { workloadNamed } from "../workloads/workloads.ts";
import {
  DEFAULT_LINES,
  FollowHeaders,
  FollowPath,
  LogEntry,
  LogPath,
  LogQuery,
  LogReply,
  LogReportQuery,
  LogReportReply,
} from "./schemas.ts";
import { toDeployerLogEntry, toLogEntry } from "./views.ts";

/** An environment sleeps five minutes after the last record at the earliest. */
const FOLLOWED_MS = 4 * MINUTE_MS;

const target = ({ params }: { readonly params: Pick<Static<typeof LogPath>, "environment_id"> }) =>
  params.environment_id;

const readLogs = {
  endpoint: "GET /api/environments/{environment_id}/logs/{component}",
  summary: "Get a component's logs",
  access: { permission: "environments:read" },
  params: LogPath,
  auditTarget: target,
  errors: ["ENV_NOT_FOUND", "not-found"],
} as const;
const WHAT_LOGS =
  "The newest lines of all pods and containers of the component, and of the former run of containers that were restarted. Lines of JSON are parsed (an error beside the message is added to it), others are the message. For `argocd`: the conditions of the environment's application, its last operation, and the result for each resource.";
const OF_A_WORKLOAD =
  "With `workload`: of the pods of that workload, whatever the component. The answer to an unknown name has the existing names.";

/** Newest lines of a component's pods, or the deployer's report. */
export const getLogs = route({ ...readLogs, description: WHAT_LOGS, only: "v1", query: LogQuery, reply: LogReply })(
  async ({ params: { environment_id, component }, query, caller }, services) => {
    const environment = await readEnvironment(environment_id, caller, services);
    const logs = await componentEntries(environment, component, query, services);
    return { component, logs, total_lines: logs.length };
  },
);

/** Version 2 of `getLogs`: also of a workload. */
export const getReportedLogs = route({
  ...readLogs,
  description: `${WHAT_LOGS} ${OF_A_WORKLOAD}`,
  only: "v2",
  operationId: "getLogs",
  query: LogReportQuery,
  reply: LogReportReply,
})(async ({ params: { environment_id, component }, query, caller }, services) => {
  const environment = await readEnvironment(environment_id, caller, services);
  const { workload } = query;
  if (workload === undefined) {
    const logs = await componentEntries(environment, component, query, services);
    return { component, workload: null, logs, total_lines: logs.length };
  }
  if (component === "argocd") throw new HttpError("malformed", "workload: the report of argocd has no workloads");
  const found = await podTarget(environment, { component, workload }, services);
  const logs = await podEntries(environment, found, query, services);
  return { component, workload: workloadTitle(found), logs, total_lines: logs.length };
});

/** Streams the same lines, then new ones, while the environment exists and the caller may see it. */
export const followLogs = route({
  endpoint: "GET /api/environments/{environment_id}/logs/{component}/stream",
  summary: "Follow a component's logs",
  description:
    "The newest lines as server-sent events, then every new line, also of pods and containers that start later; with `workload`, of the pods of that workload, whichever component they are of: the position after it as `id`, a log entry as `data`. A comment comes every 15 seconds. The stream ends with the environment, with the caller's rights, when the service stops, and after 30 minutes: a client that reconnects with `Last-Event-ID` continues after that event; lines of several containers, whose nodes have clocks of their own, may be repeated for 10 seconds. At most 20 streams a caller.",
  access: { permission: "environments:read" },
  only: "v2",
  isStream: true,
  params: FollowPath,
  query: LogReportQuery,
  headers: FollowHeaders,
  auditTarget: target,
  reply: LogEntry,
  errors: ["ENV_NOT_FOUND", "not-found"],
})(async ({ params: { environment_id, component }, query, headers, caller }, services) => {
  const environment = await readEnvironment(environment_id, caller, services);
  const followed = await podTarget(environment, { component, workload: query.workload }, services);
  const after = headers["Last-Event-ID"];
  const selection = { ...selectionOf(query), ...(after === undefined ? {} : { after }) };
  return async function* (signal): AsyncGenerator<ServerEvent<LogEntry>[]> {
    recordWhileFollowed(environment, services, signal);
    for await (const lines of services.podLogs.follow(environment.metadata, followed, { ...selection, signal })) {
      if (!(await isStillVisible(environment, caller, services))) return;
      yield lines.map((line) => ({ id: line.position, data: toLogEntry(line) }));
    }
  };
});

/** The environment whose log a person reads, which is activity. */
async function readEnvironment(idOrName: string, caller: Caller, services: Services): Promise<EphemeralEnvironment> {
  const environment = await visibleEnvironment(idOrName, caller, services);
  if (environment.status?.sleep !== undefined) await services.environments.recordActivity(environment);
  return environment;
}

/** Until the stream ends. One failed record does no harm: the next one follows. */
function recordWhileFollowed(environment: EphemeralEnvironment, services: Services, signal: AbortSignal): void {
  const { clock, environments, log } = services;
  if (signal.aborted || environment.status?.sleep === undefined) return;
  const cancel = clock.setTimer(FOLLOWED_MS, () => {
    signal.removeEventListener("abort", cancel);
    recordWhileFollowed(environment, services, signal);
    environments
      .recordActivity(environment)
      .catch((error: unknown) => log.warn("could not record that a log is followed", { error }));
  });
  signal.addEventListener("abort", cancel, { once: true });
}

async function isStillVisible({ metadata }: EphemeralEnvironment, caller: Caller, { environments }: Services) {
  const found = await environments.find(metadata.uid);
  return found !== undefined && visibleTo(caller)(found.spec);
}

async function componentEntries(
  environment: EphemeralEnvironment,
  component: Component | "argocd",
  query: LogQuery,
  services: Services,
): Promise<LogEntry[]> {
  if (component === "argocd") return deployerEntries(environment, query, services);
  return podEntries(environment, await podTarget(environment, { component }, services), query, services);
}

async function podEntries(
  { metadata }: EphemeralEnvironment,
  logTarget: LogTarget,
  query: LogQuery,
  { podLogs }: Services,
): Promise<LogEntry[]> {
  return (await podLogs.tail(metadata, logTarget, selectionOf(query))).map(toLogEntry);
}

/** @throws HttpError for a component or a workload that the environment lacks */
async function podTarget(
  environment: EphemeralEnvironment,
  { component, workload }: { readonly component: Component; readonly workload?: string | undefined },
  services: Services,
): Promise<LogTarget> {
  requireComponent(environment, component);
  if (workload !== undefined) return { workload: await workloadNamed(workload, environment, services) };
  return { component, selectors: selectorsOf(environment, services) };
}

const workloadTitle = (logTarget: LogTarget) => ("workload" in logTarget ? titleOf(logTarget.workload) : null);

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

/** Whole seconds, at least one, as the kubelet takes them, of 1h30m or 1.5h. */
function secondsOf(duration: string): number {
  const parts = [...duration.matchAll(/(\d+(?:[.]\d+)?)([dhms])/g)];
  const seconds = parts.map(([, count, unit]) => Number(count) * UNIT_SECONDS[unit as keyof typeof UNIT_SECONDS]);
  const sum = seconds.reduce((total, part) => total + part, 0);
  return Math.max(1, Math.ceil(sum));
}
