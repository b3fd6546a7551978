import { availableParallelism } from "node:os";
import type { WriteStream } from "node:tty";

/** Shows a person the current steps and the duration of each. */
export interface Progress {
  /**
   * Runs one step under its name; steps may overlap. Passes on the step's result or failure. `detail` answers the text
   * behind the name while the step runs.
   */
  step<T>(name: string, work: () => Promise<T>, detail?: () => string): Promise<T>;
}

/** A step of a plan. */
export interface PlannedStep {
  readonly name: string;
  /** Approximate processor seconds; 0 without an estimate. */
  readonly weight?: number;
}

/**
 * Shows progress on a stream: on a terminal as one live line with the running steps and their seconds, elsewhere (a build
 * server's log) as plain lines at the end of each step, and now and then during a slow one.
 */
export function showProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  const running = new Map<string, () => string>();
  const live = stream.isTTY ? liveLine(stream, running) : undefined;
  return {
    async step(name, work, detail = () => "") {
      const began = performance.now();
      const state = () => `${name}${detail()} … ${seconds(began)}`;
      running.set(name, state);
      const slow = live ? undefined : reportRegularly(() => stream.write(`${state()}\n`));
      live?.start();
      try {
        const result = await work();
        live?.clear();
        stream.write(`${name}: ${seconds(began)}\n`);
        return result;
      } finally {
        slow?.stop();
        running.delete(name);
        if (running.size === 0) live?.stop();
      }
    },
  };
}

/** Shows nothing: for tests and for commands with machine-readable output. */
export const silentProgress: Progress = { step: (_name, work) => work() };

interface Machine {
  now(): number;
  readonly processors: number;
}

/**
 * Numbers the steps of a plan in the order in which they begin, `2/7 build containerd`, and, with weights, shows the
 * progress of the whole plan: `, about 2 of 12 min`. Weighted steps run one after the other.
 */
export function planned(
  progress: Progress,
  plan: readonly PlannedStep[],
  { now, processors }: Machine = { now: () => performance.now(), processors: availableParallelism() },
): Progress {
  const weights = plan.map(({ weight = 0 }) => weight);
  const began = now();
  let started = 0;
  let done: StepProgress["done"] = { steps: 0, seconds: 0 };
  const since = () => (now() - began) / 1000;
  const detail = () => {
    const estimated = estimate({ weights, done, seconds: since(), processors });
    return estimated === undefined ? "" : `, ${words(estimated)}`;
  };
  return {
    step: (name, work) =>
      progress.step(
        `${++started}/${plan.length} ${name}`,
        async () => {
          const result = await work();
          done = { steps: done.steps + 1, seconds: since() };
          return result;
        },
        detail,
      ),
  };
}

/** Reports after two seconds and every half minute: builds take minutes, and a silent log looks hung. */
function reportRegularly(report: () => void): { stop: () => void } {
  let timer = setTimeout(function again() {
    report();
    timer = setTimeout(again, 30_000).unref();
  }, 2000).unref();
  return { stop: () => clearTimeout(timer) };
}

function liveLine(stream: WriteStream, running: ReadonlyMap<string, () => string>) {
  let timer: NodeJS.Timeout | undefined;
  const clear = () => stream.write("\r\u001b[K");
  const draw = () => {
    const steps = [...running.values()].map((state) => state()).join(", ");
    clear();
    stream.write(steps.slice(0, (stream.columns || 80) - 1));
  };
  return {
    clear,
    start: () => {
      timer ??= setInterval(draw, 200).unref();
    },
    stop: () => {
      clearInterval(timer);
      timer = undefined;
      clear();
    },
  };
}

function seconds(began: number): string {
  return `${((performance.now() - began) / 1000).toFixed(1)} s`;
}

/** Progress of steps that run one after the other. */
interface StepProgress {
  /** Processor seconds of each step, roughly. */
  readonly weights: readonly number[];
  /** Number of steps that are done, and seconds until the last of them was. */
  readonly done: { readonly steps: number; readonly seconds: number };
  /** Seconds since the first began. */
  readonly seconds: number;
  readonly processors: number;
}

/** Seconds that all steps take together, and seconds that are over. */
interface Estimate {
  readonly seconds: number;
  readonly ofSeconds: number;
}

/**
 * Estimates the whole by the weights and the pace of this machine so far; before the first step is done, by a machine that
 * keeps all its processors busy as fast as the one that was measured. A step that takes longer than its share moves the
 * end, and is never reported as over. Undefined when no step has a weight.
 */
export function estimate({ weights, done, seconds, processors }: StepProgress): Estimate | undefined {
  const sum = (some: readonly number[]) => some.reduce((total, weight) => total + weight, 0);
  if (sum(weights) === 0) return undefined;
  const weightDone = sum(weights.slice(0, done.steps));
  const pace = weightDone > 0 ? done.seconds / weightDone : 1 / processors;
  const current = Math.max((weights[done.steps] ?? 0) * pace, seconds - done.seconds);
  return { seconds, ofSeconds: done.seconds + current + sum(weights.slice(done.steps + 1)) * pace };
}

/** `about 2 of 12 min`, below two minutes `about 20 of 70 s`. */
export function words({ seconds, ofSeconds }: Estimate): string {
  const isShort = ofSeconds < 120;
  const [unit, name] = isShort ? [10, "s"] : [60, "min"];
  const scale = isShort ? 10 : 1;
  return `about ${Math.floor(seconds / unit) * scale} of ${Math.ceil(ofSeconds / unit) * scale} ${name}`;
}
