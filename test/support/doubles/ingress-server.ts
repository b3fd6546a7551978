import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { type IncomingMessage, type RequestListener, request, type ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { certificateAuthority } from "../../../deploy/local/kubernetes/pki.ts";

/** An ingress on loopback: a certificate for every name, and a backend for each host that a test gives one. */
export interface IngressServer {
  /** Its address, and the authority of its certificate. */
  readonly settings: { readonly ingressAddress: string; readonly ca: string; readonly publicPort: number };
  /** Backend of a host; `"none"` is one without pods. Other hosts go to the fallback. */
  readonly backends: Map<string, RequestListener | "none">;
  /** Address of the backend of all other hosts, such as http://127.0.0.1:4711. */
  fallback: string | undefined;
  close(): Promise<void>;
}

/** Starts an ingress. */
export async function startIngress(domain: string): Promise<IngressServer> {
  const folder = await mkdtemp(join(tmpdir(), "ingress-"));
  const authority = await certificateAuthority(folder);
  const names = { commonName: `*.${domain}`, alternativeNames: [`DNS:*.${domain}`] };
  const pair = await authority.issue("ingress", names);
  const ca = await readFile(authority.certificate, "utf8");
  const identity = { key: await readFile(pair.key), cert: await readFile(pair.certificate) };
  await rm(folder, { recursive: true });
  const backends: IngressServer["backends"] = new Map();
  const server = createServer(identity, (call, reply) => {
    const backend = backends.get((call.headers.host ?? "").replace(/:\d+$/, ""));
    if (backend === "none") reply.writeHead(503).end("no available server");
    else if (backend !== undefined) backend(call, reply);
    else if (ingress.fallback === undefined) reply.writeHead(404).end("no route");
    else forward(ingress.fallback, call, reply);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const ingress: IngressServer = {
    settings: { ingressAddress: `127.0.0.1:${port}`, ca, publicPort: port },
    backends,
    fallback: undefined,
    async close() {
      server.closeAllConnections();
      await once(server.close(), "close");
    },
  };
  return ingress;
}

function forward(origin: string, call: IncomingMessage, reply: ServerResponse): void {
  const { method = "GET", url = "/", headers } = call;
  const onward = request(`${origin}${url}`, { method, headers, agent: false }, (answer) => {
    reply.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(reply);
  });
  onward.on("error", () => reply.writeHead(502).end());
  call.pipe(onward);
}
