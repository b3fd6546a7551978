import { once } from "node:events";
import { createServer, type OutgoingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A chat's incoming webhooks on loopback: a message to any path is accepted and kept. */
export interface ChatServer {
  url(channel: string): string;
  /** Posted messages: the path and the raw body. */
  readonly received: readonly { readonly path: string; readonly body: string }[];
  /** Changes the answer; `hang`: none. */
  answer(status: number | "hang", headers?: OutgoingHttpHeaders): void;
  stop(): Promise<void>;
}

export async function startChatServer(port = 0): Promise<ChatServer> {
  const received: { path: string; body: string }[] = [];
  let answer: { status: number | "hang"; headers: OutgoingHttpHeaders } = { status: 200, headers: {} };
  const server = createServer(async (request, response) => {
    const { status, headers } = answer;
    const body = await text(request);
    received.push({ path: request.url ?? "", body });
    if (status !== "hang") response.writeHead(status, headers).end(status < 300 ? "ok" : "no");
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: (channel) => `http://127.0.0.1:${taken}/services/${channel}`,
    received,
    answer(status, headers = {}) {
      answer = { status, headers };
    },
    async stop() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
