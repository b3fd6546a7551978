import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { ownDeveloper } from "../identity.ts";
import { site } from "../site.ts";

const DEADLINE_MS = 15_000;

/** A request of the REST interface; the path begins below `/api`. */
export interface Requested {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
}

/** The results of all requests so far. */
export interface Answers {
  /** The number of statuses below 400. */
  readonly succeeded: number;
  /** Other results in one line each: time, request and end. */
  readonly failures: readonly string[];
  /** The longest time from the beginning to the last byte. */
  readonly slowestMs: number;
}

/**
 * Sends that many requests a second, without waiting for answers, until the answered function is called, which waits for
 * pending ones. Half of them use kept connections, as a proxy does, the other half new ones. No request is repeated.
 */
export function askSteadily(perSecond: number, next: (index: number) => Requested): () => Promise<Answers> {
  const ending = new AbortController();
  const kept = new Agent({ keepAlive: true });
  const answers = { succeeded: 0, failures: [] as string[], slowestMs: 0 };
  const one = async (index: number) => {
    const requested = next(index);
    const [began, at] = [performance.now(), new Date().toISOString()];
    const outcome = await statusOf(requested, index % 2 === 0 ? kept : false).catch((error: Error) => error.message);
    answers.slowestMs = Math.max(answers.slowestMs, performance.now() - began);
    if (typeof outcome === "number" && outcome < 400) answers.succeeded += 1;
    else
      answers.failures.push(
        `${at} ${requested.method} ${requested.path} on a ${index % 2 ? "new" : "kept"} connection: ${outcome}`,
      );
  };
  const asking = askUntil(ending.signal, perSecond, one);
  return async () => {
    ending.abort();
    await asking;
    kept.destroy();
    return answers;
  };
}

async function askUntil(signal: AbortSignal, perSecond: number, one: (index: number) => Promise<void>): Promise<void> {
  const began = performance.now();
  const all: Promise<void>[] = [];
  for (let index = 0; !signal.aborted; index += 1) {
    all.push(one(index));
    // Paced by the clock: a late request delays no other.
    await pause(Math.max(0, began + ((index + 1) * 1000) / perSecond - performance.now()));
  }
  await Promise.all(all);
}

function statusOf({ method, path, body }: Requested, agent: Agent | false): Promise<number> {
  const headers = { authorization: `Bearer ${ownDeveloper}`, ...(body && { "content-type": "application/json" }) };
  const signal = AbortSignal.timeout(DEADLINE_MS);
  return new Promise((resolve, reject) => {
    const sent = request(`${site.apiUrl}/api${path}`, { method, agent, headers, signal }, (reply) => {
      reply.once("error", reject);
      reply.once("end", () => resolve(reply.statusCode ?? 0));
      reply.resume();
    });
    sent.once("error", reject).end(body && JSON.stringify(body));
  });
}
