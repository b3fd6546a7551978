import type { HostState, WakeStep } from "./state.ts";

/** What the gate itself says, as a page, as JSON or as a line of text. */
export interface GateAnswer {
  readonly status: 404 | 502 | 503;
  /** Name in metrics. */
  readonly name: string;
  readonly title: string;
  readonly text: string;
  readonly steps: readonly WakeStep[];
  /** Absent where waiting changes nothing. */
  readonly retryAfterSeconds?: number;
}

/** The same for every host without an environment: it tells nothing about what exists. */
export const UNKNOWN: GateAnswer = {
  status: 404,
  name: "unknown",
  title: "Nothing is here",
  text: "No environment answers at this address.",
  steps: [],
};

/** Caches are not complete yet. */
export const NOT_READY: GateAnswer = later("not_ready", 2, "One moment", "The platform is starting.");
/** Too many environments are woken, by one address or in all. */
export const LIMITED: GateAnswer = later(
  "limited",
  30,
  "Too many at once",
  "Too many environments are being woken. Try again in a while.",
);
/** The API server did not take the wish. */
export const NOT_RECORDED: GateAnswer = later(
  "not_recorded",
  5,
  "One moment",
  "The cluster does not take the request to wake this environment. Try again in a while.",
);
/** Too many requests wait already, or the body is too large to keep. */
export const NOT_HELD: GateAnswer = later(
  "not_held",
  5,
  "It is waking up",
  "This request is too large, or too many wait already. Send it again once the environment answers.",
);
/** The environment did not answer in time. */
export const NOT_IN_TIME: GateAnswer = later(
  "not_in_time",
  15,
  "It is still waking up",
  "The environment did not answer within a minute. Send the request again in a while.",
);
/** The gate stops. */
export const STOPPING: GateAnswer = later("stopping", 1, "One moment", "Send the request again.");
/** The request was passed on, and no answer came. */
export const NO_ANSWER: GateAnswer = {
  status: 502,
  name: "no_answer",
  title: "No answer",
  text: "The application got the request, and the connection ended before its answer.",
  steps: [],
};

function later(name: string, retryAfterSeconds: number, title: string, text: string): GateAnswer {
  return { status: 503, name, title, text, steps: [], retryAfterSeconds };
}

/** Answer about an environment in its state. */
export function answerOf(environment: string, { kind, steps, problem = "" }: HostState): GateAnswer {
  const name = kind;
  if (kind === "suspended") {
    const text = "A person has put it to sleep. It wakes when a person resumes it.";
    return { status: 503, name, title: `${environment} is suspended`, text, steps };
  }
  if (kind === "failed") {
    return { status: 503, name, title: `${environment} does not run`, text: problem, steps, retryAfterSeconds: 30 };
  }
  if (kind === "starting") {
    const text = "It answers here as soon as it is ready.";
    return { status: 503, name, title: `${environment} is being created`, text, steps, retryAfterSeconds: 5 };
  }
  const text = "It was asleep, because nobody needed it. It answers here in a moment.";
  return { status: 503, name, title: `${environment} is waking up`, text, steps, retryAfterSeconds: 2 };
}

/** Answer to a request that wakes nothing. */
export function answerAsleep(environment: string): GateAnswer {
  const text = "It wakes when a person opens it.";
  return later("asleep", 60, `${environment} is asleep`, text);
}
