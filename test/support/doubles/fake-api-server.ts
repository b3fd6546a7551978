import http from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { requestTarget } from "../../../deploy/local/network/request-target.ts";
import type { KubeConfigSource } from "../../../operator/kit/client/credentials.ts";
import { kubeConfigOf } from "../fixtures/kube-config.ts";

export interface SeenRequest {
  readonly method: string;
  /** Path without query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

/** Answers one request of a script. */
export type Answer = (request: SeenRequest, response: http.ServerResponse) => void;

/** A scripted API server on loopback: each rule's answers are used once, in order; the last one stays. */
export interface FakeApiServer {
  readonly url: string;
  readonly kubeConfig: KubeConfigSource;
  readonly seen: readonly SeenRequest[];
  /** Answers matching requests; rules apply in the order of their creation. */
  on(matches: (request: SeenRequest) => boolean, ...answers: readonly Answer[]): void;
  readonly openConnections: number;
  /** Number of all connections so far. */
  readonly connectionsSoFar: number;
  /** Resets every connection, as a dying load balancer. */
  resetConnections(): void;
  close(): Promise<void>;
}

interface Rule {
  readonly matches: (request: SeenRequest) => boolean;
  readonly answers: Answer[];
}

/** Listens on a free port of 127.0.0.1. An unscripted request is answered 501 and appears in `seen`. */
export async function startFakeApiServer(): Promise<FakeApiServer> {
  const seen: SeenRequest[] = [];
  const rules: Rule[] = [];
  const sockets = new Set<Socket>();
  let connectionsSoFar = 0;
  const server = http.createServer(async (incoming, response) => {
    const target = requestTarget(incoming);
    if (target === undefined) return void response.writeHead(400).end();
    const request = await readRequest(incoming, target);
    seen.push(request);
    answerFor(rules, request)(request, response);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    connectionsSoFar += 1;
    socket.on("error", () => undefined);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    kubeConfig: kubeConfigOf({ url }, "a-token"),
    seen,
    on: (matches, ...answers) => {
      rules.push({ matches, answers: [...answers] });
    },
    get openConnections() {
      return sockets.size;
    },
    get connectionsSoFar() {
      return connectionsSoFar;
    },
    resetConnections: () => {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function json(body: unknown, status = 200, headers: http.OutgoingHttpHeaders = {}): Answer {
  return (_request, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };
}

export function status(code: number, reason: string, headers: http.OutgoingHttpHeaders = {}): Answer {
  return json(
    { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message: `${reason}!` },
    code,
    headers,
  );
}

/** Takes the request and never answers. */
export const silence: Answer = () => undefined;

/** Resets the connection instead of answering. */
export const reset: Answer = (_request, response) => {
  response.socket?.resetAndDestroy();
};

export class Stream {
  #response: http.ServerResponse | undefined;
  #opened = 0;

  /** Opens the stream. */
  readonly answer: Answer = (_request, response) => {
    this.#response = response;
    this.#opened += 1;
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
  };

  /** The number of times it was opened. */
  get opened(): number {
    return this.#opened;
  }

  get isOpen(): boolean {
    return this.#response !== undefined && !this.#response.destroyed && !this.#response.writableEnded;
  }

  write(text: string | Uint8Array): void {
    this.#current().write(text);
  }

  /** One watch event on a line of its own. */
  event(type: string, object: unknown): void {
    this.write(`${JSON.stringify({ type, object })}\n`);
  }

  end(): void {
    this.#current().end();
  }

  reset(): void {
    this.#current().socket?.resetAndDestroy();
  }

  #current(): http.ServerResponse {
    if (this.#response === undefined) throw new Error("the stream was not opened yet");
    return this.#response;
  }
}

function answerFor(rules: readonly Rule[], request: SeenRequest): Answer {
  const rule = rules.find(({ matches, answers }) => answers.length > 0 && matches(request));
  const answer = rule === undefined || rule.answers.length === 1 ? rule?.answers[0] : rule.answers.shift();
  return answer ?? status(501, "NotScripted");
}

async function readRequest(incoming: http.IncomingMessage, target: URL): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return {
    method: incoming.method ?? "",
    path: target.pathname,
    query: target.searchParams,
    headers: incoming.headers,
    body: Buffer.concat(chunks).toString("utf8"),
  };
}
