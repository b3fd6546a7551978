import { maxHeaderSize, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { problemBody } from "../problem.ts";
import { requestIdFrom } from "../request-context.ts";
import type { Services } from "../services.ts";

interface Meaning {
  readonly status: number;
  readonly detail: string;
}

const MALFORMED: Meaning = { status: 400, detail: "The request is not valid HTTP" };
/** Errors of Node's parser; https://nodejs.org/api/http.html#event-clienterror. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: "The request took too long to arrive" },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, detail: "The extensions of the body's chunks are too large" },
  HPE_HEADER_OVERFLOW: {
    status: 431,
    detail: `The request line and the headers may have ${maxHeaderSize} bytes at most`,
  },
};
const NO_HOST: Meaning = { status: 400, detail: "The header host is missing" };

type Reporting = Pick<Services, "clock" | "log">;

/**
 * Answers requests that Node itself would refuse in the app's form, and logs each with its answer's request id; `serve`
 * gets all others. Such an answer ends the connection: the next request's start is unknown. Create the server without
 * `requireHostHeader`, and call this before it listens.
 */
export function answerUnparsed(server: Server, serve: RequestListener, reporting: Reporting): void {
  const unfinished = new WeakMap<Duplex, Set<ServerResponse>>();
  server.on("request", (request, response) => {
    follow(unfinished, request.socket, response);
    if (request.httpVersion !== "1.1" || request.headers.host !== undefined) return serve(request, response);
    const requestId = requestIdFrom(request.headersDistinct["x-request-id"]?.join());
    const { status, headers, body } = refusal(NO_HOST, requestId, reporting);
    response.writeHead(status, headers).end(body);
  });
  // Anything but `100-continue` may be ignored: https://www.rfc-editor.org/rfc/rfc9110#section-10.1.1.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable) return void socket.destroy();
    const open = [...(unfinished.get(socket) ?? [])];
    const requestId = requestIdFrom(open[0]?.getHeader("X-Request-ID")?.toString());
    // Text after a begun answer would be read as a part of its body.
    const isTooLate = open.some(({ headersSent }) => headersSent);
    const text = isTooLate ? "" : asText(refusal(MEANINGS[error.code ?? ""] ?? MALFORMED, requestId, reporting));
    socket.end(text, () => socket.destroy());
  });
}

function follow(unfinished: WeakMap<Duplex, Set<ServerResponse>>, socket: Duplex, response: ServerResponse): void {
  const ofSocket = unfinished.get(socket) ?? new Set();
  unfinished.set(socket, ofSocket.add(response));
  response.once("close", () => ofSocket.delete(response));
}

interface RefusedRequest {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function refusal({ status, detail }: Meaning, requestId: string, { clock, log }: Reporting): RefusedRequest {
  log.info("a request was refused before it was served", { requestId, status, detail });
  const now = clock.now();
  const body = JSON.stringify(problemBody({ status, detail, now }));
  const headers = {
    "X-Request-ID": requestId,
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(body)),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    Date: now.toUTCString(),
    Connection: "close",
  };
  return { status, headers, body };
}

function asText({ status, headers, body }: RefusedRequest): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, "", body].join("\r\n");
}
