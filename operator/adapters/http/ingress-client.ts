import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { hostUrl } from "../../../crds/names.ts";
import type { IngressClient } from "../../ports/ingress-client.ts";
import { connection, type IngressSettings, isRefused, NOT_PUBLIC } from "./ingress-connection.ts";

/** Connections to one host at a time; more requests wait. */
const MOST_CONNECTIONS = 100;

/** IngressClient port: one HTTPS request on a connection of its own, so that none fails because an idle one was closed. */
export function httpsIngressClient(settings: IngressSettings & { readonly publicPort: number }): IngressClient {
  const agent = new Agent({ keepAlive: false, maxSockets: MOST_CONNECTIONS });
  return {
    async send(host, { method, target, headers, body }, signal) {
      const url = new URL(hostUrl(host, settings.publicPort));
      if (isRefused(url, settings)) throw new Error(NOT_PUBLIC);
      const options = connection(url, settings);
      // The path as it came, which `new URL` would change.
      const call = request(url, {
        ...options,
        agent,
        method,
        path: target,
        headers: { ...headers, ...options.headers },
        signal,
      });
      call.on("upgrade", () => call.destroy(new Error("it switched protocols")));
      call.end(body.length === 0 ? undefined : body);
      const [reply] = (await once(call, "response", { signal })) as [IncomingMessage];
      // A body that ends early is its reader's to see.
      call.on("error", () => undefined);
      return { status: reply.statusCode ?? 502, headers: reply.headers, body: reply };
    },
    close: () => agent.destroy(),
  };
}
