import type { ControllerDependencies } from "../../../operator/controllers/index.ts";
import { eventKind } from "../../../operator/kit/client/kinds.ts";
import {
  isWrite,
  type KubeRequest,
  type KubeResponse,
  type RequestSeam,
} from "../../../operator/kit/client/request.ts";
import { type Clock, systemClock } from "../../../operator/kit/time/clock.ts";
import type { FaultPlan } from "./fault-plans.ts";
import { type PortCall, portSeam } from "./port-seam.ts";
import { RequestTitles } from "./request-titles.ts";

/** What one environment went through since its plan was armed. */
export interface Course {
  readonly plan: FaultPlan | undefined;
  /** The writes that reached the API server, in order. */
  readonly writes: readonly string[];
  /** The reasons of the Events that were made, in order. */
  readonly events: readonly string[];
  /** The calls of ports, in order. */
  readonly calls: readonly string[];
  /** How often the fault struck. */
  readonly struck: number;
  /** When it struck last, or the process lived again after it, on the field's clock; not while it strikes. */
  readonly endedAtMs: number | undefined;
  /** Whether its process died and no other has begun. */
  readonly isDead: boolean;
}

/** One process, from its start to its end. */
export interface Life {
  readonly onRequest: RequestSeam;
  readonly onPorts: (context: ControllerDependencies) => ControllerDependencies;
  /** Whether nothing that it sent is on its way any more. */
  readonly isIdle: boolean;
  /** Kills what is left of it: whatever it does from now on fails. */
  end(): void;
}

interface OpenCourse {
  readonly sinceMs: number;
  readonly plan: FaultPlan | undefined;
  readonly writes: string[];
  readonly events: string[];
  readonly calls: string[];
  struck: number;
  endedAtMs: number | undefined;
  diedIn: Life | undefined;
}

/**
 * Gives every environment its own plan, so that one operator meets hundreds of faults at once.
 *
 * A crash is told per environment too: from its moment on, nothing about that environment goes through and the answers
 * on their way are lost. As far as that environment can tell, the process was killed; the next life is the next process.
 */
export class FaultField {
  readonly #courses = new Map<string, OpenCourse>();
  readonly #titles = new RequestTitles();
  readonly #clock: Pick<Clock, "monotonicMs" | "now">;

  constructor(clock: Pick<Clock, "monotonicMs" | "now"> = systemClock) {
    this.#clock = clock;
  }

  /** Begins a new course of the environment; without a plan it only records. */
  arm(environment: string, plan?: FaultPlan): void {
    const sinceMs = this.#clock.now().getTime();
    const recorded = { writes: [], events: [], calls: [] };
    this.#courses.set(environment, { plan, sinceMs, ...recorded, struck: 0, endedAtMs: undefined, diedIn: undefined });
  }

  of(environment: string): Course {
    const course = this.#courses.get(environment);
    if (course === undefined) throw new TypeError(`no plan was armed for '${environment}'`);
    return { ...course, isDead: course.diedIn !== undefined };
  }

  life(): Life {
    let onTheirWay = 0;
    let isOver = false;
    const through = async <R>(operation: Operation<R>): Promise<R> => {
      if (isOver) throw killed();
      const course = this.#courses.get(operation.environment ?? "");
      const sent = () => {
        onTheirWay += 1;
        return operation.next().finally(() => {
          onTheirWay -= 1;
        });
      };
      if (course === undefined) return sent();
      if (course.diedIn === life) throw killed();
      const answer = await this.#meet(course, { ...operation, next: sent }, life);
      if (isOver || course.diedIn === life) throw killed();
      return answer;
    };
    const life: Life = {
      onRequest: (request, next) => through(this.#request(request, next)),
      onPorts: portSeam((call, next) => through(this.#call(call, next))),
      get isIdle() {
        return onTheirWay === 0;
      },
      end() {
        isOver = true;
      },
    };
    return life;
  }

  /** Another process takes over: for those whose process died, the fault is over. */
  revive(): void {
    for (const course of this.#courses.values()) {
      if (course.diedIn === undefined) continue;
      course.diedIn = undefined;
      course.endedAtMs = this.#clock.monotonicMs();
    }
  }

  async #meet<R>(course: OpenCourse, operation: Operation<R>, life: Life): Promise<R> {
    const { plan } = course;
    const isTarget = plan !== undefined && operation.entry === plan.target && course.struck < plan.fault.times;
    if (!isTarget) return operation.next();
    course.struck += 1;
    course.endedAtMs = undefined;
    if (plan.fault.kills === "before") course.diedIn = life;
    if (course.diedIn === life) throw killed();
    try {
      return (await operation.strike(plan)) as R;
    } finally {
      if (plan.fault.kills === "after") course.diedIn = life;
      else course.endedAtMs = this.#clock.monotonicMs();
    }
  }

  #request(request: KubeRequest, next: () => Promise<KubeResponse>): Operation<KubeResponse> {
    const environment = this.#titles.environmentOf(request);
    const isEvent = request.type === eventKind;
    const isRecorded = environment !== undefined && isWrite(request.verb) && !isEvent;
    const entry = isRecorded ? this.#titles.of(request, environment) : "";
    const send = async () => {
      // They are best effort: whatever happens to one, nothing else is written.
      if (isEvent) noteEvent(this.#courses.get(environment ?? ""), request);
      if (!isRecorded) return next();
      this.#courses.get(environment)?.writes.push(entry);
      const answer = await next();
      if (answer.status < 300) this.#titles.accepted(request, environment);
      return answer;
    };
    const strike = ({ fault }: FaultPlan) =>
      fault.request === undefined ? send() : fault.request({ request, environment: environment ?? "", next: send });
    return { environment, entry, next: send, strike };
  }

  #call(call: PortCall, next: () => Promise<unknown>): Operation<unknown> {
    const environment = call.about;
    const entry = `call ${call.port}.${call.method}`;
    const send = () => {
      this.#courses.get(environment ?? "")?.calls.push(entry);
      return next();
    };
    const strike = ({ fault }: FaultPlan) => (fault.call === undefined ? send() : fault.call({ ...call, next: send }));
    return { environment, entry, next: send, strike };
  }
}

/** A request or a port's call on its way. */
interface Operation<R> {
  readonly environment: string | undefined;
  readonly entry: string;
  readonly next: () => Promise<R>;
  /** What becomes of it when its environment's fault strikes. */
  readonly strike: (plan: FaultPlan) => Promise<unknown>;
}

/** The parts of an Event that is made, or of one whose count is raised. */
interface WrittenEvent {
  readonly reason?: string;
  readonly eventTime?: string;
  readonly series?: { readonly lastObservedTime: string };
}

/** An Event may be written long after what it tells of (ADR 269): that may have been before this course. */
function noteEvent(course: OpenCourse | undefined, { body }: KubeRequest): void {
  const { reason = "again", eventTime = "", series } = body as WrittenEvent;
  const isOfCourse = course !== undefined && Date.parse(series?.lastObservedTime ?? eventTime) >= course.sinceMs;
  if (isOfCourse) course.events.push(reason);
}

const killed = () => new Error("the process was killed");
