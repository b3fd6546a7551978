import { Agent, request } from "node:http";
import { atRate, type Rate } from "../at-rate.ts";

/** A call's duration, from its due time to its last byte: a late start counts as a slow answer. */
export interface Sample {
  readonly path: string;
  readonly ms: number;
}

export interface LoadOptions extends Rate {
  readonly url: string;
  readonly authorization: string;
  /** The path of the call of that number. */
  readonly path: (index: number) => string;
}

/** Connections are kept, as by a gateway. */
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** Calls at a fixed rate; fails at the first answer that is not a 200. */
export async function load({ url, authorization, path, ...rate }: LoadOptions): Promise<Sample[]> {
  const took = await atRate(rate, (index) => call(url + path(index), { authorization }));
  return took.map((ms, index) => ({ path: path(index), ms }));
}

/** Durations of consecutive calls. */
export async function inTurn(count: number, work: (index: number) => Promise<unknown>): Promise<number[]> {
  const took: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const began = performance.now();
    await work(index);
    took.push(performance.now() - began);
  }
  return took;
}

/** Answers the body of a 200. */
export function call(url: string, headers: Record<string, string>, body?: object): Promise<string> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? "GET" : "POST";
    const type = body === undefined ? {} : { "content-type": "application/json" };
    const sent = request(url, { agent, method, headers: { ...headers, ...type }, timeout: 10_000 }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on("data", (chunk: Buffer) => chunks.push(chunk));
      reply.once("error", reject);
      reply.once("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        if (reply.statusCode === 200) resolve(text);
        else reject(new Error(`${url} was answered ${reply.statusCode}: ${text}`));
      });
    });
    sent.once("timeout", () => sent.destroy(new Error(`${url} was not answered in 10 s`)));
    sent.once("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
