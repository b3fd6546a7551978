import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as it came. */
export interface HostCall {
  readonly route: string;
  readonly authorization: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

/** An answer that a test gives instead. */
export interface HostAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Answers a call; `parts` are the groups of its pattern. */
type Route = (call: HostCall, parts: readonly string[]) => HostAnswer;
/** Patterns of `METHOD /path?query`. */
export type Routes = readonly (readonly [RegExp, Route])[];

export const ABSENT: HostAnswer = { status: 404, body: { message: "Not Found" } };

/** A server on loopback that records its calls and answers them by the first route that fits, else by 404. */
export async function startRecordingHost(routes: Routes, prefix = "") {
  const calls: HostCall[] = [];
  let answer: (call: HostCall) => HostAnswer | undefined = () => undefined;
  const reply = (call: HostCall): HostAnswer => {
    const given = answer(call);
    if (given !== undefined) return given;
    for (const [pattern, route] of routes) {
      const parts = pattern.exec(call.route);
      if (parts !== null) return route(call, parts.slice(1));
    }
    return ABSENT;
  };
  const server = createServer(async (request, response) => {
    const call = await readCall(request, prefix);
    calls.push(call);
    send(response, reply(call));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    apiUrl: `http://127.0.0.1:${port}${prefix}`,
    calls,
    /** Answers these calls otherwise; `undefined` leaves a call to the host. */
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
