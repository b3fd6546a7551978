import { type Agent, request } from "node:https";
import { componentHost } from "../../crds/names.ts";
import { addresses, baseDomain } from "../../deploy/local/network/addresses.ts";

/** Host of an environment's backend. */
export const hostOf = (name: string) => componentHost(name, "backend", baseDomain);

export interface IngressAnswer {
  readonly status: number;
  /** Milliseconds until the end of the answer. */
  readonly tookMs: number;
}

/**
 * Requests a host's root through the local cluster's ingress, as a program without a browser does: a sleeping environment
 * wakes.
 *
 * Without an agent the request has a connection of its own.
 *
 * @throws Error for silence of `silenceMs`, and for a broken connection
 */
export function requestThroughIngress(
  host: string,
  { agent, silenceMs }: { readonly agent?: Agent; readonly silenceMs: number },
): Promise<IngressAnswer> {
  const began = performance.now();
  return new Promise((done, failed) => {
    const call = request(
      {
        host: "127.0.0.1",
        port: addresses.ingressPort,
        servername: host,
        headers: { host: `${host}:${addresses.ingressPort}`, "user-agent": "curl/8.5.0", accept: "*/*" },
        agent: agent ?? false,
        // The certificate is for the environments' domain, by an authority of this cluster.
        rejectUnauthorized: false,
        timeout: silenceMs,
      },
      (reply) => {
        reply.resume();
        const answer = () => ({ status: reply.statusCode ?? 0, tookMs: performance.now() - began });
        reply.once("end", () => done(answer())).once("error", failed);
      },
    );
    call.once("timeout", () => call.destroy(new Error(`'${host}' does not answer`))).once("error", failed);
    call.end();
  });
}
