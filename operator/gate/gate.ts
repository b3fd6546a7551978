import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import type { Log } from "../kit/log.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { IngressClient } from "../ports/ingress-client.ts";
import type { SleepingEnvironments } from "../ports/sleeping-environments.ts";
import { answerAsleep, answerOf, type GateAnswer, LIMITED, NOT_READY, NOT_RECORDED, UNKNOWN } from "./answers.ts";
import { rawAnswer, writeAnswer } from "./forms.ts";
import { HeldRequests } from "./held-requests.ts";
import { Passage } from "./passage.ts";
import { clientAddress, type Intent, intentOf, type NamedHost, namedHost } from "./request.ts";
import { type HostState, hostState } from "./state.ts";
import { Wakes } from "./wakes.ts";

/** Dependencies of the gate. */
export interface GateOptions {
  readonly environments: SleepingEnvironments;
  readonly ingress: IngressClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly baseDomain: string;
  /** Number of proxies in front that are trusted in X-Forwarded-For. */
  readonly trustedProxyHops: number;
  /** True for a `User-Agent` whose requests wake nothing. */
  readonly isIgnoredAgent: (agent: string) => boolean;
  /** Called with the name of each answer; `passed` is the application's. */
  readonly answered: (name: string) => void;
  /** Aborted when the gate stops: requests that wait are answered. */
  readonly stopping: AbortSignal;
}

/** The gate: answers requests to hosts that no Ingress of an environment answers. */
export interface Gate {
  readonly serve: RequestListener;
  /** A connection that wants another protocol, such as a WebSocket: it wakes, and gets 503 with `Retry-After`. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex) => void;
  /** Requests that wait now. */
  readonly held: number;
}

/** A request to a host of an environment. */
interface Located {
  readonly host: NamedHost;
  readonly environment: EphemeralEnvironment;
  readonly state: HostState;
  readonly intent: Intent;
  readonly address: string;
}

/** Intents of people, and of programs that work for them. */
const WAKING: readonly Intent[] = ["page", "status", "hold"];

/** Creates the gate; it keeps nothing that a restart would lose. */
export function createGate(options: GateOptions): Gate {
  const { environments, ingress, clock, log, answered, stopping } = options;
  const wakes = new Wakes({ environments, clock });
  const passage = new Passage({ environments, ingress, wake: tryToWake });
  const held = new HeldRequests({ passage, ingress, clock, stopping, passed: () => answered("passed") });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const located = locate(request, options);
    const first = "title" in located ? located : await answerTo(located);
    const answer = first === "hold" && !("title" in located) ? await held.hold(request, response, located) : first;
    if (answer === undefined || answer === "hold") return;
    answered(answer.name);
    writeAnswer(request, response, answer);
  }

  /** Wakes the environment if it sleeps; `hold` for a request that is to wait for the application. */
  async function answerTo(located: Located): Promise<GateAnswer | "hold"> {
    const { host, state, intent } = located;
    const refusal = state.kind === "asleep" ? await wake(located) : undefined;
    if (refusal !== undefined) return refusal;
    const mayWait = state.kind === "asleep" || state.kind === "waking";
    return mayWait && intent === "hold" ? "hold" : answerOf(host.environment, state);
  }

  /** The answer where it does not wake. */
  async function wake({ host, environment, intent, address }: Located): Promise<GateAnswer | undefined> {
    return WAKING.includes(intent) ? tryToWake(environment, address) : answerAsleep(host.environment);
  }

  /** The answer where it could not be woken. */
  async function tryToWake(environment: EphemeralEnvironment, address: string): Promise<GateAnswer | undefined> {
    try {
      return (await wakes.wake(environment, address)) === "limited" ? LIMITED : undefined;
    } catch (error) {
      log.warn("a request could not wake an environment", { environment: environment.metadata.name, error });
      return NOT_RECORDED;
    }
  }

  async function upgrade(request: IncomingMessage, socket: Duplex): Promise<void> {
    const located = locate(request, options);
    const first = "title" in located ? located : await answerTo(located);
    const answer =
      first === "hold" && !("title" in located) ? answerOf(located.host.environment, located.state) : first;
    if (answer === "hold") return;
    answered(answer.name);
    socket.end(rawAnswer(answer));
  }

  const failed = (error: unknown) => log.error("a request to the gate failed", { error });
  return {
    serve: (request, response) => {
      serve(request, response).catch((error: unknown) => {
        failed(error);
        response.destroy();
      });
    },
    upgrade: (request, socket) => {
      socket.on("error", () => undefined);
      upgrade(request, socket).catch((error: unknown) => {
        failed(error);
        socket.destroy();
      });
    },
    get held() {
      return held.count;
    },
  };
}

/** The environment that the request is about, or the answer where there is none. */
function locate(request: IncomingMessage, options: GateOptions): Located | GateAnswer {
  const { environments, baseDomain, trustedProxyHops, isIgnoredAgent } = options;
  const { method = "GET", url: target = "", headers } = request;
  const host = namedHost(headers.host, baseDomain);
  if (host === undefined || !target.startsWith("/")) return UNKNOWN;
  if (!environments.complete) return NOT_READY;
  const environment = environments.find(host.environment);
  const state = environment && hostState(environment, host.host);
  if (environment === undefined || state === undefined) return UNKNOWN;
  const intent = intentOf({ method, target, headers }, isIgnoredAgent);
  const address = clientAddress(headers, request.socket.remoteAddress ?? "", trustedProxyHops);
  return { host, environment, state, intent, address };
}
