import type { ErrorRequestHandler, Express, Request, Response } from "express";
import type { AuditTrail } from "../operator/ports/audit-trail.ts";
import { auditedOf, beginRecord, checkRecordable, recordAnswer, setAuditReason, setAuditTarget } from "./audit.ts";
import { type Admission, authorize, proveAgain } from "./auth/authorize.ts";
import type { Caller } from "./auth/callers.ts";
import { isFault, problemOf, UNAVAILABLE_HEADERS, UNAVAILABLE_STATUS } from "./errors.ts";
import type { EventStreams } from "./http/event-streams.ts";
import { refuseMethod } from "./http/unrouted.ts";
import { HttpError } from "./http-error.ts";
import { inputReader } from "./input/request-input.ts";
import { currentRequestId } from "./request-context.ts";
import {
  type Contract,
  type Events,
  type Input,
  isWrapped,
  type Route,
  type Services,
  VERSIONS,
  type Version,
  versionedPath,
  versionsOf,
} from "./route.ts";

/** What serving routes takes beside the platform. */
export interface RouteContext extends Admission {
  readonly platform: Services;
  readonly audit: AuditTrail;
  readonly streams: EventStreams;
}

type Serve = ReturnType<typeof server>;
type Served = readonly [contract: Contract, serve: Serve];

/** Serves every route, in all its versions through the same function, and refuses other methods of their paths. */
export function mount(app: Express, routes: readonly Route[], desk: RouteContext): void {
  const served = routes.map((route): Served => [route.contract, server(route, desk)]);
  const byPath = Map.groupBy(served, ([{ path }]) => path);
  // A path without parameters goes before one that it would fit, with all its methods: it is no value of a parameter.
  const paths = [...byPath.keys()].sort((one, other) => Number(one.includes("{")) - Number(other.includes("{")));
  for (const path of paths) {
    for (const version of VERSIONS) {
      const inVersion = byPath.get(path)?.filter(([contract]) => versionsOf(contract).includes(version)) ?? [];
      if (inVersion.length > 0) mountPath(app, expressPath({ path }, version), { served: inVersion, version, desk });
    }
  }
}

interface PathServed {
  readonly served: readonly Served[];
  readonly version: Version;
  readonly desk: RouteContext;
}

function mountPath(app: Express, path: string, { served, version, desk }: PathServed): void {
  for (const [{ method }, serve] of served) {
    app[method](path, (request, response) => serve(request, response, version));
  }
  const methods = served.map(([{ method }]) => method);
  const allow = [...(methods.includes("get") ? ["head"] : []), ...methods].sort().join(", ").toUpperCase();
  app.all(path, refuseMethod(desk, allow));
}

/** The path as Express writes it: `{id}` is `:id`. */
function expressPath(contract: Pick<Contract, "path">, version: Version): string {
  return versionedPath(contract, version).replaceAll(/\{(\w+)\}/g, ":$1");
}

function server({ contract, handle }: Route, desk: RouteContext) {
  const read = inputReader(contract);
  return async (request: Request, response: Response, version: Version): Promise<void> => {
    const audited = beginRecord(request, response, contract);
    const caller = await authorize(contract, desk, request, response);
    const input = { ...(await read(request)), caller } as Input<never>;
    setAuditTarget(audited, contract.auditTarget?.(input as never));
    setAuditReason(audited, contract.auditReason?.(input as never));
    await checkRecordable(desk.audit, audited);
    const reply = await handle(input, desk.platform);
    const admitted = { request, response, caller };
    if (contract.events) await sendEvents(reply as Events<object>, contract, desk, admitted);
    else await sendReply(reply, { contract, version }, desk, admitted);
  };
}

async function sendReply(
  reply: object,
  { contract, version }: { readonly contract: Contract; readonly version: Version },
  { audit, platform }: RouteContext,
  { request, response }: Admitted,
): Promise<void> {
  if (contract.isUnavailable?.(reply as never)) response.status(UNAVAILABLE_STATUS).set(UNAVAILABLE_HEADERS);
  else response.status(contract.status ?? 200);
  await recordAnswer(audit, { request, response }, { status: response.statusCode });
  const alternative = askedAlternative(request, contract);
  if (alternative !== undefined) response.type(alternative.type).send(alternative.text(reply as never));
  else response.json(isWrapped(contract, version) ? wrap(reply, platform.clock.now()) : reply);
}

interface Admitted {
  readonly request: Request;
  readonly response: Response;
  readonly caller: Caller | undefined;
}

/** Rights end while a stream goes on: whoever may less, or others, than at its beginning has to ask for it anew. */
async function sendEvents(
  events: Events<object>,
  { access }: Contract,
  desk: RouteContext,
  admitted: Admitted,
): Promise<void> {
  const { streams, audit } = desk;
  const rights = ({ permissions, groups }: Caller) => JSON.stringify([[...permissions], groups]);
  await streams.send({
    ...admitted,
    events,
    onOpen: () => recordAnswer(audit, admitted, { status: 200 }),
    async stillMay() {
      const { caller, request } = admitted;
      if (caller === undefined) return;
      if (rights(await proveAgain(access, desk, request)) !== rights(caller))
        throw new HttpError("forbidden", "The caller's rights have changed");
    },
  });
}

/** JSON unless the caller prefers the other form. */
function askedAlternative(request: Request, { representation }: Contract) {
  const isAsked = representation !== undefined && request.accepts(["application/json", representation.type]);
  return isAsked === representation?.type ? representation : undefined;
}

/** The envelope: what v1 says, without its success marker; an environment's own status is no marker. */
function wrap(reply: object, now: Date): object {
  const { status, ...unmarked } = reply as { status?: unknown };
  const data = status === "success" ? unmarked : reply;
  return { status: "success", data, timestamp: now.toISOString() };
}

/** Answers every error of every path; logs what is a fault, once. */
export function problemHandler({
  platform,
  log,
  audit,
}: Pick<RouteContext, "platform" | "log" | "audit">): ErrorRequestHandler {
  // Express tells this from other handlers by the number of its parameters.
  return async (error, request, response, _next) => {
    const { contract } = auditedOf(response);
    if (isFault(error)) {
      log.error("a request failed", {
        requestId: currentRequestId(),
        method: request.method,
        path: contract?.path,
        error,
      });
    }
    if (response.headersSent) {
      // What was promised can't be kept: a client that is cut off knows.
      response.destroy();
      return;
    }
    const { status, headers, body } = problemOf(error, contract?.refusals ?? [], platform.clock.now());
    await recordAnswer(audit, { request, response }, { status, errorCode: body.error_code, error });
    response.status(status).set(headers).json(body);
  };
}
