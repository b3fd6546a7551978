import type { ControllerDependencies } from "../../../operator/controllers/index.ts";
import { eventKind } from "../../../operator/kit/client/kinds.ts";
import {
  isWrite,
  type KubeRequest,
  type KubeResponse,
  type RequestInterceptor,
} from "../../../operator/kit/client/request.ts";
import { type Clock, systemClock } from "../../../operator/kit/time/clock.ts";
import type { Deployer } from "../../../operator/ports/deployer.ts";
import type { FaultPlan } from "./fault-plans.ts";
import { type PortCall, portInterceptor } from "./port-interceptor.ts";
import { RequestTitles } from "./request-titles.ts";

/** The history of one environment since its plan was armed. */
export interface Course {
  readonly plan: FaultPlan | undefined;
  readonly writes: readonly string[];
  readonly events: readonly string[];
  readonly calls: readonly string[];
  /** The number of strikes of the fault. */
  readonly struck: number;
  /**
   * The end of the last strike, or the start of the next process after it, on the field's clock; undefined during a strike.
   */
  readonly endedAtMs: number | undefined;
  /** True between the death of its process and the next start. */
  readonly isDead: boolean;
}

/** One process, from its start to its end. */
export interface Life {
  readonly onRequest: RequestInterceptor;
  readonly onPorts: (context: ControllerDependencies) => ControllerDependencies;
  /** True when nothing that the process sent is on its way any more. */
  readonly isIdle: boolean;
  /** Makes everything that the process still tries fail. */
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
 * A crash, too, affects one environment: from its moment on, its requests fail and pending answers are lost, as if the
 * process was killed; the next life is the next process.
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
      onPorts: (context) => {
        const intercept = portInterceptor((call, next) => through(this.#call(call, next)));
        return intercept(withoutRenewedLogins(context));
      },
      get isIdle() {
        return onTheirWay === 0;
      },
      end() {
        isOver = true;
      },
    };
    return life;
  }

  /** Ends the fault of environments with a dead process: another one takes over. */
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
      // Events are best effort: a lost one changes no other write.
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

/**
 * A given login does not age, because the number of renewals would depend on the machine's speed. `chart-login.test.ts` covers
 * renewals.
 */
function withoutRenewedLogins(context: ControllerDependencies): ControllerDependencies {
  const { deployer } = context;
  const loginAgeMs: Deployer["loginAgeMs"] = (...login) =>
    Number.isFinite(deployer.loginAgeMs(...login)) ? 0 : Number.POSITIVE_INFINITY;
  return { ...context, deployer: Object.assign(Object.create(deployer), { loginAgeMs }) };
}

interface Operation<R> {
  readonly environment: string | undefined;
  readonly entry: string;
  readonly next: () => Promise<R>;
  readonly strike: (plan: FaultPlan) => Promise<unknown>;
}

/** An Event that is created, or whose count is raised. */
interface WrittenEvent {
  readonly reason?: string;
  readonly eventTime?: string;
  readonly series?: { readonly lastObservedTime: string };
}

/** An Event may be written long after its cause (ADR 269), which may precede this course. */
function noteEvent(course: OpenCourse | undefined, { body }: KubeRequest): void {
  const { reason = "again", eventTime = "", series } = body as WrittenEvent;
  const isOfCourse = course !== undefined && Date.parse(series?.lastObservedTime ?? eventTime) >= course.sinceMs;
  if (isOfCourse) course.events.push(reason);
}

const killed = () => new Error("the process was killed");
