import type { ErrorRequestHandler, Express, Request, Response } from "express";
import { type BodyMemory, bodyMemory } from "../operator/kit/body-memory.ts";
import type { AuditTrail } from "../operator/ports/audit-trail.ts";
import { beginRecord, checkRecordable, describeRecord, recordAnswer } from "./audit.ts";
import type { Caller } from "./auth/access.ts";
import { type AuthParts, authorize, reauthorize } from "./auth/authorize.ts";
import { ERRORS, HttpError } from "./errors.ts";
import type { EventStreams } from "./http/event-streams.ts";
import { methodNotAllowed } from "./http/unrouted.ts";
import { isRaw, type RawBody } from "./input/raw-body.ts";
import { inputReader } from "./input/request-input.ts";
import { isFault, problemOf } from "./problem.ts";
import { currentRequest } from "./request-context.ts";
import {
  type Contract,
  type Events,
  isWrapped,
  type Route,
  VERSIONS,
  type Version,
  versionedPath,
  versionsOf,
} from "./route.ts";
import type { Services } from "./services.ts";

/** Dependencies of the routes. */
export interface RouteContext extends AuthParts {
  readonly services: Services;
  readonly audit: AuditTrail;
  readonly streams: EventStreams;
}

/** Header of "not ready": the dependencies are checked every two seconds at most. */
const NOT_READY_HEADERS = { "Retry-After": "5" };
/** Memory for all bodies that arrive, beyond 64 KiB of each; as much for callers that are known as for all others. */
const BODIES_BYTES = 33_554_432;

type Serve = ReturnType<typeof server>;
type Served = readonly [contract: Contract, serve: Serve];

/** Serves every route in all its versions, and answers other methods with 405. */
export function mount(app: Express, routes: readonly Route[], context: RouteContext): void {
  const [ofKnown, ofAll] = [bodyMemory(BODIES_BYTES), bodyMemory(BODIES_BYTES)];
  const memoryOf = ({ access }: Contract) => (access === "public" ? ofAll : ofKnown);
  const served = routes.map((route): Served => [route.contract, server(route, context, memoryOf(route.contract))]);
  // Paths without parameters go before those with fitting ones.
  served.sort(([one], [other]) => Number(one.path.includes("{")) - Number(other.path.includes("{")));
  for (const version of VERSIONS) {
    const inVersion = served.filter(([contract]) => versionsOf(contract).includes(version));
    // Express writes `{id}` as `:id`.
    const patternOf = ([contract]: Served) => versionedPath(contract, version).replaceAll(/\{(\w+)\}/g, ":$1");
    for (const [pattern, ofPath] of Map.groupBy(inVersion, patternOf)) {
      const route = app.route(pattern);
      for (const [{ method }, serve] of ofPath) {
        route[method]((request, response) => serve(request, response, version));
      }
      const methods = ofPath.map(([{ method }]) => method);
      const allow = [...(methods.includes("get") ? ["head"] : []), ...methods].sort().join(", ").toUpperCase();
      // Unlike the app's own `all`, which would add a layer for each method of Node.js.
      route.all(methodNotAllowed(context, allow));
    }
  }
}

function server({ contract, handle }: Route, context: RouteContext, memory: BodyMemory) {
  const read = inputReader(contract, memory);
  return async (request: Request, response: Response, version: Version): Promise<void> => {
    currentRequest().version = version;
    beginRecord(contract, request.params);
    const caller = await authorize(contract, context, request, response);
    const reply = await countingSender(contract, context, { request, response }, async (countFor) => {
      const { body, ...rest } = await read(request);
      const input = { ...rest, body: isRaw(contract.body) ? { ...(body as object), countFor } : body, caller };
      describeRecord(contract, input);
      await checkRecordable(context.audit);
      return handle(input, context.services);
    });
    const exchange = { request, response, caller };
    if (contract.isStream) await sendEvents(reply as Events<object>, contract, context, exchange);
    else await sendReply(reply, { contract, version }, context, exchange);
  };
}

type Serving = (countFor: RawBody["countFor"]) => Promise<object> | object;

/**
 * Counts by the sender in the body's signature, and earlier refusals as unauthenticated. An address with too many
 * refusals is not served.
 */
async function countingSender(
  { rate }: Contract,
  { limits }: RouteContext,
  { request, response }: Pick<Exchange, "request" | "response">,
  serve: Serving,
): Promise<object> {
  let isCounted = rate !== "sender";
  if (!isCounted) await limits.checkRefusedWebhooks(request, response);
  const countFor = (sender: string) => {
    isCounted = true;
    return limits.sender(request, response, sender);
  };
  try {
    return await serve(countFor);
  } catch (error) {
    const isRefused = error instanceof HttpError && error.kind !== "unavailable";
    if (isCounted || !isRefused) throw error;
    currentRequest().isCredentialRefused = error.kind === "unauthenticated";
    await limits.refusedWebhook(request, response);
    await limits.unauthenticated(request, response);
    throw error;
  }
}

interface Exchange {
  readonly request: Request;
  readonly response: Response;
  readonly caller: Caller | undefined;
}

async function sendReply(
  reply: object,
  { contract, version }: { readonly contract: Contract; readonly version: Version },
  { audit, services }: RouteContext,
  { request, response }: Exchange,
): Promise<void> {
  if (contract.isUnavailable?.(reply)) response.status(ERRORS.unavailable.status).set(NOT_READY_HEADERS);
  else response.status(contract.status);
  await recordAnswer(audit, { status: response.statusCode });
  const representation = preferredRepresentation(request, contract);
  if (representation !== undefined) {
    const text = await (representation.serve?.(services) ?? representation.text(reply));
    response.type(representation.type).send(text);
  } else response.json(isWrapped(contract, version) ? wrap(reply, services.clock.now()) : reply);
}

/** Permissions can end during a stream: a caller with changed rights has to request it again. */
async function sendEvents(
  events: Events<object>,
  { access }: Contract,
  context: RouteContext,
  exchange: Exchange,
): Promise<void> {
  const rights = ({ permissions, groups }: Caller) => JSON.stringify([[...permissions], groups]);
  await context.streams.send({
    ...exchange,
    events,
    onOpen: () => recordAnswer(context.audit, { status: 200 }),
    async checkAccess() {
      const { caller, request } = exchange;
      if (caller === undefined) return;
      if (rights(await reauthorize(access, context, request)) !== rights(caller))
        throw new HttpError("forbidden", "The caller's rights have changed");
    },
  });
}

function preferredRepresentation(request: Request, { representation }: Contract) {
  const preferred = representation !== undefined && request.accepts(["application/json", representation.type]);
  return preferred === representation?.type ? representation : undefined;
}

/** Envelope: the version 1 reply without its success marker; an environment's own status is no marker. */
function wrap(reply: object, now: Date): object {
  const { status, ...unmarked } = reply as { status?: unknown };
  const data = status === "success" ? unmarked : reply;
  return { status: "success", data, timestamp: now.toISOString() };
}

/** Answers every error of every path; logs faults, once. */
export function errorHandler({ services, audit }: Pick<RouteContext, "services" | "audit">): ErrorRequestHandler {
  // Express recognises error handlers by the number of parameters.
  return async (error, request, response, _next) => {
    const { contract, version } = currentRequest();
    if (isFault(error)) {
      services.log.error("a request failed", { method: request.method, path: contract?.path, error });
    }
    if (response.headersSent) {
      // The promised answer can't be completed: the client notices the cut.
      response.destroy();
      return;
    }
    const { status, headers, body } = problemOf(
      error,
      { errors: contract?.errors ?? [], version },
      services.clock.now(),
    );
    await recordAnswer(audit, { status, errorCode: body.error_code, error });
    response.status(status).set(headers).json(body);
  };
}
