import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** The answer from now on; `normal`: the server's own text. */
type Mood = "normal" | "hangs" | Answer;

interface Answer {
  readonly status: number;
  readonly body?: string;
  readonly location?: string;
}

/** Place of a server: a loopback address, and a port, by default a free one. */
interface Place {
  readonly host?: string;
  readonly port?: number;
}

/** A server of metrics, or of Prometheus' API. */
export interface MetricsServer {
  readonly url: string;
  readonly port: number;
  /** Received requests. */
  readonly received: readonly IncomingMessage[];
  answers(mood: Mood): void;
  stop(): Promise<void>;
}

/** Listener that answers the text of `content`, unless the mood says otherwise. */
export function metricsListener(content: (request: IncomingMessage) => string) {
  const received: IncomingMessage[] = [];
  let mood: Mood = "normal";
  const listener: RequestListener = (request, response) => {
    received.push(request);
    if (mood === "hangs") return;
    const { status, body = "", location } = mood === "normal" ? { status: 200, body: content(request) } : mood;
    response
      .writeHead(status, { "content-type": "text/plain; version=0.0.4", ...(location && { location }) })
      .end(body);
  };
  const answers = (next: Mood) => {
    mood = next;
  };
  return { received, listener, answers };
}

export async function startMetricsServer(
  content: (request: IncomingMessage) => string,
  { host = "127.0.0.1", port = 0 }: Place = {},
): Promise<MetricsServer> {
  const { received, listener, answers } = metricsListener(content);
  const server = createServer(listener).listen(port, host);
  await once(server, "listening");
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${own}/metrics`,
    port: own,
    received,
    answers,
    async stop() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
