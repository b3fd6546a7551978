import { readFileSync } from "node:fs";
import { request } from "node:https";
import { text } from "node:stream/consumers";
import { site } from "./site.ts";

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface Ask {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A request through the ingress, as curl sends it: the answer may take as long as the environment needs to wake. Fails
 * without an answer.
 */
export function curl(hostname: string, { method = "GET", path = "/", headers = {} }: Ask = {}): Promise<Reply> {
  const port = 18443;
  const host = `${hostname}:${port}`;
  const signal = AbortSignal.timeout(90_000);
  const sent = { "user-agent": "curl/8.5.0", accept: "*/*", ...headers, host };
  const options = { host: "127.0.0.1", port, method, path, servername: hostname, headers: sent, signal };
  return new Promise((resolve, reject) => {
    const call = request({ ...options, ca: readFileSync(site.caFile), agent: false }, (reply) => {
      const { statusCode: status = 0, headers: answered } = reply;
      text(reply).then((body) => resolve({ status, headers: answered, body }), reject);
    });
    call.once("error", reject).end();
  });
}
