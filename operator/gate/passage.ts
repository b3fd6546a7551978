import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { insteadOf } from "../kit/client/errors.ts";
import { orAborted } from "../kit/time/deadline.ts";
import type { IngressClient } from "../ports/ingress-client.ts";
import type { SleepingEnvironments } from "../ports/sleeping-environments.ts";
import { GATE_AGENT, GATE_HEADER, type NamedHost } from "./request.ts";
import { type HostState, hostState } from "./state.ts";

/** Time between two looks at a host that is about to answer. */
const LOOK_MS = 50;
const LOOK_DEADLINE_MS = 2_000;
/** Fallback for the watch of environments. */
const CHANGE_MS = 1_000;
/** Answers of an ingress that has no backend yet; the gate's own have its header. */
const NO_BACKEND = [502, 503, 504];
/** States in which no waiting helps. */
const HOPELESS: readonly HostState["kind"][] = ["suspended", "failed"];

interface Context {
  readonly environments: SleepingEnvironments;
  readonly ingress: IngressClient;
  /** Wakes an environment for a client's address. */
  readonly wake: (environment: EphemeralEnvironment, address: string) => Promise<unknown>;
}

interface Opening {
  readonly outcome: Promise<HostState | "open" | undefined>;
  readonly end: AbortController;
  waiting: number;
}

/** Way from the gate to applications: it knows when a host answers. One look at a time, however many requests wait. */
export class Passage {
  readonly #context: Context;
  readonly #openings = new Map<string, Opening>();

  constructor(context: Context) {
    this.#context = context;
  }

  /**
   * Waits until the application answers at the host: `open`. Otherwise the state in which it never will, `undefined` for
   * an environment that is gone, or when the signal aborts. An environment that falls asleep meanwhile is woken.
   *
   * @param address the client's
   */
  async untilOpen(host: NamedHost, address: string, signal: AbortSignal): Promise<HostState | "open" | undefined> {
    const opening = this.#openings.get(host.host) ?? this.#begin(host, address);
    opening.waiting += 1;
    try {
      return await orAborted(opening.outcome, signal).catch(insteadOf(() => signal.aborted, undefined));
    } finally {
      opening.waiting -= 1;
      if (opening.waiting === 0) this.#end(host, opening);
    }
  }

  #begin(host: NamedHost, address: string): Opening {
    const end = new AbortController();
    const opening = { outcome: this.#look(host, address, end.signal), end, waiting: 0 };
    this.#openings.set(host.host, opening);
    return opening;
  }

  #end({ host }: NamedHost, opening: Opening): void {
    opening.end.abort();
    if (this.#openings.get(host) === opening) this.#openings.delete(host);
  }

  async #look(host: NamedHost, address: string, signal: AbortSignal): Promise<HostState | "open" | undefined> {
    const { environments } = this.#context;
    let woken: string | undefined;
    while (!signal.aborted) {
      const state = stateOf(host, environments);
      if (state === undefined || HOPELESS.includes(state.kind)) return state;
      woken = await this.#wakeAsleep(host, address, woken);
      const mayAnswer = state.kind === "waking" && !state.awaitsDatabase;
      if (mayAnswer && (await this.#answers(host.host, signal))) return "open";
      await environments.untilChanged(host.environment, mayAnswer ? LOOK_MS : CHANGE_MS, signal);
    }
    return undefined;
  }

  /**
   * Wakes the environment if it sleeps, once for each sleep: it may have been awake when the request came. Answers the
   * begin of the sleep that it was woken from last.
   */
  async #wakeAsleep({ environment }: NamedHost, address: string, woken: string | undefined) {
    const found = this.#context.environments.find(environment);
    const { state, since } = found?.status?.sleep ?? {};
    if (found === undefined || state !== "asleep" || since === woken) return woken;
    await this.#context.wake(found, address);
    return since;
  }

  /** True when something behind the ingress answers, whatever it says. */
  async #answers(host: string, signal: AbortSignal): Promise<boolean> {
    const request = { method: "HEAD", target: "/", headers: { "user-agent": GATE_AGENT }, body: Buffer.alloc(0) };
    try {
      const bounded = AbortSignal.any([signal, AbortSignal.timeout(LOOK_DEADLINE_MS)]);
      const { status, headers, body } = await this.#context.ingress.send(host, request, bounded);
      body.destroy();
      return headers[GATE_HEADER] === undefined && !NO_BACKEND.includes(status);
    } catch {
      return false;
    }
  }
}

function stateOf({ host, environment }: NamedHost, environments: SleepingEnvironments): HostState | undefined {
  const found = environments.find(environment);
  return found && hostState(found, host);
}
