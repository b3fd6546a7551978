import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, isIPv6 } from "node:net";
import type { Metrics } from "./ports/metrics.ts";

/** Server of the probes. */
export interface ProbesServer {
  /** Address such as `http://127.0.0.1:9090`. */
  readonly url: string;
  close(): void;
}

interface Probed {
  /** False when something hangs so that only a restart helps. */
  readonly alive: boolean;
  /** Kinds without a complete list; none once the process can serve. */
  readonly missing: readonly string[];
}

/**
 * Serves `/livez` (the event loop runs, and no watch hangs) and `/readyz` (the process can serve; else it names kinds
 * without a complete list) for the kubelet, on a separate port, and `/metrics` for Prometheus.
 *
 * A failing dependency is no reason to restart or unplug a pod: `/api/ready` reports it.
 */
export async function serveProbes(
  address: { host: string; port: number },
  probed: Probed,
  metrics: Pick<Metrics, "scrape">,
): Promise<ProbesServer> {
  const server = createServer(async (request, reply) => {
    const path = request.url ?? "";
    const { status, text, type = "text/plain" } = path === "/metrics" ? await scraped(metrics) : answerTo(path, probed);
    reply.writeHead(status, { "content-type": type }).end(text);
  });
  server.listen(address.port, address.host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const host = isIPv6(address.host) ? `[${address.host}]` : address.host;
  return { url: `http://${host}:${port}`, close: () => void server.close() };
}

interface Answer {
  readonly status: number;
  readonly type?: string;
  readonly text: string;
}

function answerTo(path: string, { alive, missing }: Probed): Answer {
  const ok = { status: 200, text: "ok\n" };
  if (path === "/livez") return alive ? ok : { status: 503, text: "not ok\n" };
  if (path !== "/readyz") return { status: 404, text: "not ok\n" };
  return missing.length === 0 ? ok : { status: 503, text: `not ok: no complete list yet of ${missing.join(", ")}\n` };
}

/** An unreadable metric must not end the process. */
async function scraped(metrics: Pick<Metrics, "scrape">): Promise<Answer> {
  try {
    const { contentType, text } = await metrics.scrape();
    return { status: 200, type: contentType, text };
  } catch (error) {
    return { status: 500, text: `not ok: ${(error as Error).message}\n` };
  }
}
