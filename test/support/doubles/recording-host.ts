import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface HostCall {
  readonly route: string;
  readonly authorization: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface HostAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Answers a call; `parts` are the groups of its pattern. */
type Route = (call: HostCall, parts: readonly string[]) => HostAnswer;
/** Patterns of `METHOD /path?query`. */
export type Routes = readonly (readonly [RegExp, Route])[];

/** A host's published API. Each method describes a violation, or answers `undefined`. */
export interface HostContract {
  /** Checks a request. */
  breachOf(call: HostCall): string | undefined;
  breachIn(call: HostCall, answer: HostAnswer): string | undefined;
}

export const ABSENT: HostAnswer = { status: 404, body: { message: "Not Found" } };

/**
 * A server on loopback that records its calls and answers them by the first matching route, else by 404. A request that
 * violates the contract is answered 501; a route that violates it fails the test.
 */
export async function startRecordingHost(routes: Routes, prefix = "", contract?: HostContract) {
  const calls: HostCall[] = [];
  let answer: (call: HostCall) => HostAnswer | undefined = () => undefined;
  const reply = (call: HostCall): HostAnswer => {
    const breach = contract?.breachOf(call);
    if (breach !== undefined) return { status: 501, body: { message: `${call.route}: ${breach}` } };
    const given = answer(call);
    if (given !== undefined) return given;
    const routed = byRoute(routes, call);
    const ownBreach = contract?.breachIn(call, routed);
    if (ownBreach !== undefined) throw new Error(`the double's answer to ${call.route}: ${ownBreach}`);
    return routed;
  };
  const server = createServer(async (request, response) => {
    const call = await readCall(request, prefix);
    calls.push(call);
    let sent: HostAnswer = { status: 500 };
    try {
      sent = reply(call);
    } finally {
      send(response, sent);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    apiUrl: `http://127.0.0.1:${port}${prefix}`,
    calls,
    /** Overrides the answers; `undefined` leaves a call to the routes. */
    answerWith(given: typeof answer) {
      answer = given;
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function byRoute(routes: Routes, call: HostCall): HostAnswer {
  for (const [pattern, route] of routes) {
    const parts = pattern.exec(call.route);
    if (parts !== null) return route(call, parts.slice(1));
  }
  return ABSENT;
}

async function readCall(request: IncomingMessage, prefix: string): Promise<HostCall> {
  const text = Buffer.concat(await Array.fromAsync(request)).toString();
  const url = request.url ?? "";
  const path = url.startsWith(prefix) ? url.slice(prefix.length) : `outside the API: ${url}`;
  return {
    route: `${request.method} ${path}`,
    authorization: request.headers.authorization,
    body: text === "" ? {} : JSON.parse(text),
  };
}

function send(response: ServerResponse, { status, headers = {}, body }: HostAnswer): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}
