import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { Clock } from "../kit/time/clock.ts";
import { boundedSignal } from "../kit/time/deadline.ts";
import type { IngressClient, PassedReply, PassedRequest } from "../ports/ingress-client.ts";
import { answerOf, type GateAnswer, NO_ANSWER, NOT_HELD, NOT_IN_TIME, STOPPING, UNKNOWN } from "./answers.ts";
import { BodyRoom, endToEnd, type KeptBody, readBody } from "./bodies.ts";
import type { Passage } from "./passage.ts";
import { GATE_HEADER, type NamedHost } from "./request.ts";

/** Requests that wait for environments at a time. */
const MOST_HELD = 200;
/** Requests of one host: one that never answers leaves room for others. */
const MOST_OF_HOST = 100;
const HOLD_MS = 60_000;

interface Context {
  readonly passage: Passage;
  readonly ingress: IngressClient;
  readonly clock: Clock;
  /** Aborted when the gate stops. */
  readonly stopping: AbortSignal;
  /** Called when the application begins to answer. */
  readonly passed: () => void;
}

/** Requests that wait for their environments, and are then passed on exactly once. */
export class HeldRequests {
  readonly #context: Context;
  readonly #room = new BodyRoom();
  readonly #byHost = new Map<string, number>();
  #count = 0;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Number of requests that wait, or whose answer is on its way. */
  get count(): number {
    return this.#count;
  }

  /** Holds a request until the application has answered it; otherwise returns what the gate is to answer. */
  async hold(request: IncomingMessage, response: ServerResponse, sender: Sender): Promise<GateAnswer | undefined> {
    const { host } = sender;
    if (this.#count >= MOST_HELD || (this.#byHost.get(host.host) ?? 0) >= MOST_OF_HOST) return NOT_HELD;
    this.#add(host, 1);
    try {
      const body = await readBody(request, this.#room);
      return body === undefined ? NOT_HELD : await this.#holdWith(body, { request, response, sender });
    } finally {
      this.#add(host, -1);
    }
  }

  #add({ host }: NamedHost, one: 1 | -1): void {
    const count = (this.#byHost.get(host) ?? 0) + one;
    if (count === 0) this.#byHost.delete(host);
    else this.#byHost.set(host, count);
    this.#count += one;
  }

  async #holdWith(body: KeptBody, { request, response, sender }: Held): Promise<GateAnswer | undefined> {
    const { clock, stopping, passed } = this.#context;
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const bound = boundedSignal({ clock, deadlineMs: HOLD_MS, signals: [gone.signal, stopping] });
    try {
      const reply = await this.#passOn(passedRequest(request, sender.host, body.bytes), sender, bound.signal);
      if (reply === undefined) return stopping.aborted ? STOPPING : NOT_IN_TIME;
      if ("title" in reply) return reply;
      // From here on the application decides how long it lasts.
      bound.release();
      passed();
      response.writeHead(reply.status, endToEnd(reply.headers));
      await pipeline(reply.body, response).catch(() => response.destroy());
      return undefined;
    } finally {
      bound.release();
      body.release();
    }
  }

  /** The application's reply; `undefined` when none begins in time. */
  async #passOn(
    request: PassedRequest,
    { host, address }: Sender,
    signal: AbortSignal,
  ): Promise<PassedReply | GateAnswer | undefined> {
    while (!signal.aborted) {
      const outcome = await this.#context.passage.untilOpen(host, address, signal);
      if (signal.aborted) return undefined;
      if (outcome !== "open") return outcome === undefined ? UNKNOWN : answerOf(host.environment, outcome);
      const reply = await this.#send(host, request, signal);
      if (reply !== "returned") return reply;
    }
    return undefined;
  }

  /** `returned`: to a gate, because the host's Ingress is gone again; the application has not seen the request. */
  async #send({ host }: NamedHost, request: PassedRequest, signal: AbortSignal) {
    try {
      const reply = await this.#context.ingress.send(host, request, signal);
      if (reply.headers[GATE_HEADER] === undefined) return reply;
      reply.body.destroy();
      return "returned";
    } catch {
      return NO_ANSWER;
    }
  }
}

/** Host of a request, and its client's address. */
interface Sender {
  readonly host: NamedHost;
  readonly address: string;
}

interface Held {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly sender: Sender;
}

function passedRequest(request: IncomingMessage, { host }: NamedHost, body: Buffer): PassedRequest {
  const { method = "GET", url: target = "/" } = request;
  const headers = { ...endToEnd(request.headers), host: request.headers.host ?? host, [GATE_HEADER]: "passed" };
  return { method, target, headers, body };
}
