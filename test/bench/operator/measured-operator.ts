import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { nodeFlags } from "../../../deploy/local/node-flags.ts";
import { until } from "../../support/fixtures/until.ts";

/** What the process of the operator is told. */
export interface MeasuredOptions {
  readonly kubeconfigPath: string;
  readonly settings: object;
  /** How far its clock, and what it takes for the API server's, are ahead. */
  readonly aheadMs: number;
  readonly measuresDelays: boolean;
}

/** What the process is asked, and told. */
export type Question = "figures" | "restart of the delays" | "another look whether it has converged" | "stop";

export interface Quantiles {
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
}

/** What the process says of itself. */
export interface Figures {
  /** When every environment had had a pass and none waited for one (the last time `settled` was asked), by the machine's clock. */
  readonly convergedAtMs?: number;
  readonly passes: number;
  /** What the process has computed since its start, on all its threads. */
  readonly cpuSeconds: number;
  /** Writes that were sent since the start, by verb and kind. */
  readonly writes: Readonly<Record<string, number>>;
  /** By environment: when its deletion was answered, by the process's own clock. */
  readonly expired: Readonly<Record<string, number>>;
  readonly rssMib: number;
  readonly peakMib: number;
  readonly heapMib: number;
  /** Of the event loop, since the start or the last `restartDelays`: the time between two turns of a 1 ms timer. */
  readonly delayMs: Quantiles;
  /** Of the event loop, too: what of that time its thread computed, as it would be on a machine with nothing else to do. */
  readonly computedMs: Quantiles;
}

export interface MeasuredOperator {
  /** When the process was started, by the machine's clock. */
  readonly startedAtMs: number;
  figures(): Promise<Figures>;
  /** From now on the delays are counted anew. */
  restartDelays(): Promise<void>;
  /** Holds the process where it is; nothing asks it meanwhile. */
  freeze(): void;
  /** Lets it go on. */
  thaw(): void;
  /** Waits until it has converged on what there was at its start; answers the figures of that moment. */
  converged(deadlineMs: number): Promise<Figures & { readonly convergedAtMs: number }>;
  /** Waits until it has converged on what it knows of now. */
  settled(deadlineMs: number): Promise<void>;
  stop(): Promise<void>;
}

const PROGRAM = new URL("measured-process.ts", import.meta.url).pathname;
/** Whoever is asked while its event loop is blocked answers late, and answers. */
const ANSWER_MS = 60_000;

/** Starts the operator in a process of its own; it ends with this one. */
export function startMeasuredOperator(options: MeasuredOptions): MeasuredOperator {
  // Such as --cpu-prof.
  const more = process.env.BENCH_NODE_FLAGS?.split(" ") ?? [];
  const startedAtMs = Date.now();
  const child = fork(PROGRAM, [JSON.stringify(options)], { execArgv: [...nodeFlags, ...more] });
  const figures = () => asked(child, "figures");
  const converged = (deadlineMs: number) => {
    const look = async () => {
      const now = await figures();
      return now.convergedAtMs === undefined ? undefined : { ...now, convergedAtMs: now.convergedAtMs };
    };
    return until(look, { what: "the operator having converged", deadlineMs, everyMs: 50 });
  };
  return {
    startedAtMs,
    figures,
    async restartDelays() {
      await asked(child, "restart of the delays");
    },
    freeze() {
      child.kill("SIGSTOP");
    },
    thaw() {
      child.kill("SIGCONT");
    },
    converged,
    async settled(deadlineMs) {
      await asked(child, "another look whether it has converged");
      await converged(deadlineMs);
    },
    async stop() {
      if (child.exitCode !== null) return;
      child.kill("SIGCONT");
      const exited = once(child, "exit");
      const hangs = setTimeout(() => child.kill("SIGKILL"), 10_000);
      child.send({ ask: "stop" });
      await exited;
      clearTimeout(hangs);
    },
  };
}

async function asked(child: ChildProcess, ask: Question): Promise<Figures> {
  const gone = new AbortController();
  const onExit = () => gone.abort(new Error("the operator's process has ended"));
  child.once("exit", onExit);
  try {
    if (child.exitCode !== null) onExit();
    const answer = once(child, "message", { signal: AbortSignal.any([gone.signal, AbortSignal.timeout(ANSWER_MS)]) });
    child.send({ ask });
    const [figures] = (await answer) as [Figures];
    return figures;
  } finally {
    child.off("exit", onExit);
  }
}
