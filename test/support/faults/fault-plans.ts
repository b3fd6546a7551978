import { recordKind } from "../../../crds/environment/environment-record.ts";
import { namespaceName } from "../../../crds/names.ts";
import { notificationKind } from "../../../crds/notifications/notification.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { KubeError } from "../../../operator/kit/client/errors.ts";
import { namespaceKind } from "../../../operator/kit/client/kinds.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import type { KubeRequest, KubeResponse } from "../../../operator/kit/client/request.ts";
import type { Clock } from "../../../operator/kit/time/clock.ts";
import { DeployerUnavailable } from "../../../operator/ports/deployer.ts";
import { MessageRefused, MessagingUnavailable } from "../../../operator/ports/notifications.ts";
import { RepositoryHostUnavailable } from "../../../operator/ports/repository-host.ts";
import { SecretManagerUnavailable } from "../../../operator/ports/secret-manager.ts";
import { PullRequestHostFailed } from "../../../operator/ports/webhooks/pull-request-host.ts";
import type { PortCall } from "./port-interceptor.ts";

/** A pending write to the API server; `next` sends it. */
export interface StruckRequest {
  readonly request: KubeRequest;
  readonly environment: string;
  readonly next: () => Promise<KubeResponse>;
}

export interface StruckCall extends PortCall {
  readonly next: () => Promise<unknown>;
}

/** A failure of a write or a call. */
export interface Fault {
  readonly name: string;
  /** Consecutive strikes. */
  readonly times: number;
  /** The process dies before the write is sent, or before its answer arrives. */
  readonly kills?: "before" | "after";
  readonly request?: (struck: StruckRequest) => Promise<KubeResponse>;
  readonly call?: (struck: StruckCall) => Promise<unknown>;
  /**
   * Allowed additional writes: the repeated write, a status that names the awaited event, and one attempt to create the
   * secret manager's entry for each aborted reconcile.
   */
  readonly moreWrites: number;
}

/** A fault at a write, or at a port's call, of one part of an environment's life. */
export interface FaultPlan {
  /** The name of a write by `entryOf`, or `call PORT.METHOD`. */
  readonly target: string;
  readonly fault: Fault;
  /** The plan's name, for `PLAN=…`, too. */
  readonly title: string;
}

/** Longer than any answer of a healthy server; the client's own tests cover its deadline. */
const HANG_MS = 3_000;
const SLOW_MS = 5_000;
const LIMITED_MS = 20_000;

/** The environment of faults. */
export interface FaultPlace {
  /** Deletes prerequisites of a write, as another user. */
  readonly admin: KubeClient;
  /** The operator's clock, which delays use. */
  readonly clock: Pick<Clock, "setTimer">;
}

const later = ({ clock }: FaultPlace, ms: number) => new Promise<void>((resolve) => clock.setTimer(ms, resolve));
const timeout = () => new KubeError({ status: 0, reason: "Timeout" });

const CRASHES = [
  { name: "crash before", times: 1, kills: "before", moreWrites: 4 },
  { name: "crash after", times: 1, kills: "after", moreWrites: 4 },
] as const;

/** The process dies at that write of one environment, before it is sent or before its answer arrives. */
export function crashAt(target: string, when: "before" | "after"): FaultPlan {
  const fault = CRASHES[when === "before" ? 0 : 1];
  return { target, fault, title: `${target}: ${fault.name}` };
}

function requestFaults(place: FaultPlace): readonly Fault[] {
  return [
    ...CRASHES,
    { name: "409", times: 1, request: conflict, moreWrites: 4 },
    { name: "429 ten times", times: 10, request: () => refused(429, "TooManyRequests"), moreWrites: 14 },
    { name: "500", times: 1, request: () => refused(500, "InternalError"), moreWrites: 4 },
    { name: "500 five times", times: 5, request: () => refused(500, "InternalError"), moreWrites: 6 },
    { name: "timeout, not applied", times: 1, request: () => hung(place), moreWrites: 4 },
    { name: "timeout, applied", times: 1, request: ({ next }) => next().then(() => hung(place)), moreWrites: 4 },
    { name: "403 three times", times: 3, request: () => refused(403, "Forbidden"), moreWrites: 6 },
    { name: "404 of what it needs", times: 1, request: (struck) => deprived(struck, place.admin), moreWrites: 16 },
    { name: "slow", times: 1, request: ({ next }) => later(place, SLOW_MS).then(next), moreWrites: 4 },
  ];
}

function callFaults(place: FaultPlace): readonly Fault[] {
  return [
    ...CRASHES,
    { name: "unavailable", times: 1, call: unavailable, moreWrites: 4 },
    { name: "unavailable three times", times: 3, call: unavailable, moreWrites: 6 },
    { name: "an unexpected error", times: 2, call: unexpected, moreWrites: 4 },
    { name: "answer lost", times: 1, call: (struck) => struck.next().then(() => unavailable(struck)), moreWrites: 4 },
    { name: "slow", times: 1, call: ({ next }) => later(place, SLOW_MS).then(next), moreWrites: 4 },
  ];
}

/** Hosts and chats may name the time of the next try. */
const LIMITED: Fault = { name: "limited for a time", times: 2, call: limited, moreWrites: 6 };
const CAN_LIMIT = /^call (pullRequestHost|pullRequestReader|hooks|chat)\./;
/** A chat or a mail server that never accepts the message. */
const REFUSED: Fault = { name: "refused for good", times: 1, call: refusedForGood, moreWrites: 4 };
const CAN_REFUSE = /^call (chat\.post|mail\.send)$/;

/** True when a message of that plan ends as a dead letter. */
export const losesMessage = (plan: FaultPlan | undefined): boolean => plan?.fault === REFUSED;

/** True for an intermediate status, which is written only when the deployer is slower than the reconcile. */
export function isPassing(target: string): boolean {
  return /\/status NAME, (creating|updating|terminating)$/.test(target);
}

/** The number of writes without the first intermediate status. */
export function lastingWrites(writes: readonly string[]): number {
  return writes.length - (writes.some(isPassing) ? 1 : 0);
}

/** Combines every target with every fault of its kind. */
export function plansFor(lifecycle: string, targets: readonly string[], place: FaultPlace): FaultPlan[] {
  const [ofRequests, ofCalls] = [requestFaults(place), callFaults(place)];
  const faultsOf = (target: string) => {
    if (!target.startsWith("call ")) return ofRequests;
    const own = [CAN_LIMIT.test(target) ? [LIMITED] : [], CAN_REFUSE.test(target) ? [REFUSED] : []];
    return [...ofCalls, ...own.flat()];
  };
  return targets.flatMap((target) =>
    faultsOf(target).map((fault) => ({ target, fault, title: `${lifecycle}: ${target}: ${fault.name}` })),
  );
}

async function refused(status: number, reason: string, details: object = {}): Promise<KubeResponse> {
  const headers = status === 429 ? { "retry-after": "1" } : {};
  return { status, headers, body: { kind: "Status", status: "Failure", code: status, reason, details } };
}

/**
 * Messages are named by their content, records by their environment's UID: an existing name means that another process has
 * created it.
 */
const NAMED_BY_CONTENT: readonly string[] = [notificationKind.kind, recordKind.kind];

async function conflict({ request, next }: StruckRequest): Promise<KubeResponse> {
  if (request.verb === "create" && NAMED_BY_CONTENT.includes(request.type?.kind ?? "")) await next();
  return refused(409, request.verb === "create" ? "AlreadyExists" : "Conflict");
}

async function hung(place: FaultPlace): Promise<never> {
  await later(place, HANG_MS);
  throw timeout();
}

/**
 * Removes the write's prerequisite: its namespace, the deleted object, or its finalizer. Elsewhere only the answer fails,
 * because a removal would change the desired state.
 */
async function deprived({ request, environment, next }: StruckRequest, admin: KubeClient): Promise<KubeResponse> {
  const { type, name = "", namespace } = request;
  const own = { name: namespaceName(environment) };
  if (request.verb === "delete" && type !== undefined) {
    await admin.delete(type, { name, ...(namespace === undefined ? {} : { namespace }) });
    return next();
  }
  if (namespace === own.name) {
    await admin.delete(namespaceKind, own);
    return next();
  }
  if (isRelease(request)) {
    await admin.patch(environmentType, { name }, { metadata: { finalizers: [] } }, { as: "merge" });
    return next();
  }
  return refused(404, "NotFound");
}

function isRelease({ verb, body }: KubeRequest): boolean {
  if (verb !== "patch" || !Array.isArray(body)) return false;
  return body.some(({ op, path }) => path === "/metadata/finalizers" && op === "replace");
}

async function unavailable({ port }: PortCall): Promise<unknown> {
  const message = `the ${port} is made to be away`;
  if (port === "secretManager") throw new SecretManagerUnavailable(message);
  if (port === "deployer") throw new DeployerUnavailable(message);
  if (port === "repositoryHost" || port === "repositoryFiles") throw new RepositoryHostUnavailable(message);
  if (port === "pods") throw new KubeError({ status: 503, reason: "ServiceUnavailable" });
  if (["pullRequestHost", "pullRequestReader", "hooks"].includes(port)) throw new PullRequestHostFailed(message);
  if (port === "chat" || port === "mail") throw new MessagingUnavailable(message);
  return { status: "unreachable", responseTimeMs: 1, message };
}

async function limited({ port }: PortCall): Promise<never> {
  const [message, wait] = [`the ${port} limits its calls`, { retryAfterMs: LIMITED_MS }];
  throw port === "chat" ? new MessagingUnavailable(message, wait) : new PullRequestHostFailed(message, wait);
}

async function refusedForGood({ port }: PortCall): Promise<never> {
  throw new MessageRefused(`the ${port} refuses the message`);
}

async function unexpected(): Promise<never> {
  throw new Error("something unforeseen");
}
