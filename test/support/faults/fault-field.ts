import { recordKind } from "../../../crds/environment/environment-record.ts";
import { ENVIRONMENT_NAME_LABEL } from "../../../crds/group.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import type { ControllerContext } from "../../../operator/controllers.ts";
import { revisionKind } from "../../../operator/kit/client/kinds.ts";
import type { KubeObject } from "../../../operator/kit/client/objects.ts";
import {
  isWrite,
  type KubeRequest,
  type KubeResponse,
  type RequestSeam,
} from "../../../operator/kit/client/request.ts";
import type { FaultPlan } from "./fault-plans.ts";
import { type PortCall, portSeam } from "./port-seam.ts";
import { normalised } from "./request-seams.ts";

/** What one environment went through since its plan was armed. */
export interface Course {
  readonly plan: FaultPlan | undefined;
  /** The writes that reached the API server, in order. */
  readonly writes: readonly string[];
  /** The calls of ports, in order. */
  readonly calls: readonly string[];
  /** How often the fault struck. */
  readonly struck: number;
  /** When it struck last, or the process lived again after it, on `performance.now()`'s scale; not while it strikes. */
  readonly endedAtMs: number | undefined;
  /** Whether its process died and no other has begun. */
  readonly isDead: boolean;
}

/** One process, from its start to its end. */
export interface Life {
  readonly onRequest: RequestSeam;
  readonly onPorts: (context: ControllerContext) => ControllerContext;
  /** Whether nothing that it sent is on its way any more. */
  readonly isIdle: boolean;
  /** Kills what is left of it: whatever it does from now on fails. */
  end(): void;
}

interface OpenCourse {
  readonly plan: FaultPlan | undefined;
  readonly writes: string[];
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

  /** Begins a new course of the environment; without a plan it only records. */
  arm(environment: string, plan?: FaultPlan): void {
    const course = { plan, writes: [], calls: [], struck: 0, endedAtMs: undefined, diedIn: undefined };
    this.#courses.set(environment, course);
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
      course.endedAtMs = performance.now();
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
      else course.endedAtMs = performance.now();
    }
  }

  #request(request: KubeRequest, next: () => Promise<KubeResponse>): Operation<KubeResponse> {
    const environment = concernedBy(request);
    const isRecorded = environment !== undefined && isWrite(request.verb);
    const entry = isRecorded ? entryOf(request, environment) : "";
    const send = () => {
      if (isRecorded) this.#courses.get(environment)?.writes.push(entry);
      return next();
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

/** The environment that a request is about, by the names in its address; `undefined` for lists, watches, and others. */
function concernedBy({ name, namespace, type, subresource, body }: KubeRequest): string | undefined {
  if (type?.kind === recordKind.kind) {
    return (body as { metadata?: KubeObject["metadata"] } | undefined)?.metadata?.labels?.[ENVIRONMENT_NAME_LABEL];
  }
  if (type?.kind === environmentType.kind) return name;
  if (type?.kind === revisionKind.kind) return /^(.+)-[0-9a-f]{8}-\d+$/.exec(name ?? "")?.[1];
  if (namespace === "ephemeral-secrets") return /^(.+)-[0-9a-f]{8}$/.exec(name ?? "")?.[1];
  const place = namespace?.startsWith("env-") ? namespace : name;
  return subresource === undefined && place?.startsWith("env-") ? place.slice("env-".length) : undefined;
}

const killed = () => new Error("the process was killed");

interface PatchOperation {
  readonly op: string;
  readonly path: string;
  readonly value?: { readonly phase?: string };
}

const UID_FORM = /[0-9a-f]{8}-[0-9a-f-]{27}/;

/** A write without what differs between environments; the several patches of the resource itself are told apart. */
export function entryOf(request: KubeRequest, environment: string): string {
  const entry = normalised(request, environment)
    .replace(UID_FORM, "UID")
    .replace(/NAME-[0-9a-f]{8}-(\d+)$/, "NAME-UID-$1")
    .replace(/( Secret environment-secrets)-[0-9a-f]{8}$/, "$1-VERSION");
  if (request.verb !== "patch" || request.name !== environment) return entry;
  if (!Array.isArray(request.body)) return `${entry}, a change of the spec`;
  const [, change] = request.body as PatchOperation[];
  if (change?.path === "/metadata/finalizers") return `${entry}, ${change.op === "add" ? "hold" : "release"}`;
  return change?.path === "/status" ? `${entry}, ${change.value?.phase}` : entry;
}
