import { tmpdir } from "node:os";
import { compileCacheIn, nodeFlags } from "../../../deploy/local/processes/node-flags.ts";
import { until } from "../../support/fixtures/until.ts";
import { startProgram } from "../child-program.ts";
import type { Delays } from "../event-loop.ts";

/** What the process of the operator is told. */
export interface MeasuredOptions {
  /** The API server, the PEM file of its authority, and the bearer token of the platform's service account. */
  readonly url: string;
  readonly caFile: string;
  readonly token: string;
  readonly settings: object;
  /** How far its clock, and what it takes for the API server's, are ahead. */
  readonly aheadMs: number;
  /** Without metrics and Events. */
  readonly isUnobserved?: boolean;
}

/** What the process is asked; it answers with its figures. */
export type Question = "figures" | "restart of the delays" | "another look whether it has converged";

/** What the process says of itself. */
export interface Figures {
  /** When every environment had been reconciled and none waited for one (the last time `settled` was asked), by the machine's clock. */
  readonly convergedAtMs?: number;
  readonly reconciles: number;
  /** What the process has computed since its start, on all its threads. */
  readonly cpuSeconds: number;
  /** Writes that were sent since the start, by verb and kind. */
  readonly writes: Readonly<Record<string, number>>;
  /** By environment: when its deletion was answered, by the process's own clock. */
  readonly expired: Readonly<Record<string, number>>;
  readonly rssMib: number;
  readonly peakMib: number;
  readonly heapMib: number;
  /** Of its event loop, since the start or the last `restartDelays`. */
  readonly delays: Delays;
  /** The lists that it asked for since the start: paths with queries. */
  readonly lists: readonly string[];
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

const PROGRAM = new URL("measured-process.ts", import.meta.url);

/** Starts the operator in a process of its own, with the flags of `BENCH_NODE_FLAGS` too, such as `--cpu-prof`. */
export function startMeasuredOperator(options: MeasuredOptions): MeasuredOperator {
  const more = process.env.BENCH_NODE_FLAGS?.split(" ") ?? [];
  const flags = [...nodeFlags, ...more];
  const program = startProgram<Figures>(PROGRAM, { argument: options, flags, env: compileCacheIn(tmpdir()) });
  const ask = (question: Question) => program.ask(question);
  const converged = (deadlineMs: number) => {
    const look = async () => {
      const now = await ask("figures");
      return now.convergedAtMs === undefined ? undefined : { ...now, convergedAtMs: now.convergedAtMs };
    };
    return until(look, { what: "the operator having converged", deadlineMs, everyMs: 100 });
  };
  return {
    startedAtMs: program.startedAtMs,
    figures: () => ask("figures"),
    restartDelays: async () => void (await ask("restart of the delays")),
    freeze: () => program.signal("SIGSTOP"),
    thaw: () => program.signal("SIGCONT"),
    converged,
    async settled(deadlineMs) {
      await ask("another look whether it has converged");
      await converged(deadlineMs);
    },
    stop: () => program.stop(),
  };
}
