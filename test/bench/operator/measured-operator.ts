import { tmpdir } from "node:os";
import { compileCacheIn, nodeFlags } from "../../../deploy/bundle/operator-bundle.ts";
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
  /** Reads all that there is, and reconciles it only when it is asked to lead. */
  readonly isStandby?: boolean;
}

/** What the process is asked; it answers with its figures. */
export type Question =
  | "figures"
  | "leadership"
  | "metrics and Events"
  | "neither metrics nor Events"
  | "restart of the delays"
  | "another look whether it has converged"
  | "scrape";

/** What the process says of itself. */
export interface Figures {
  /** Whether it has read all that there is. */
  readonly isSynced: boolean;
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
  /** Of the last scrape. */
  readonly scrapeBytes: number;
  /** Of its event loop, since the start or the last `restartDelays`. */
  readonly delays: Delays;
  /** The lists that it asked for since the start: paths with queries. */
  readonly lists: readonly string[];
}

export interface MeasuredOperator {
  /** When the process was started, by the machine's clock. */
  readonly startedAtMs: number;
  figures(): Promise<Figures>;
  /** From now on with metrics and Events, as at its start, or without either. */
  observe(isObserving: boolean): Promise<void>;
  /** Has the process write its metrics, as a monitoring system does. */
  scrape(): Promise<void>;
  /** From now on the delays are counted anew. */
  restartDelays(): Promise<void>;
  /** Holds the process where it is; nothing asks it meanwhile. */
  freeze(): void;
  /** Lets it go on. */
  thaw(): void;
  /** One that stands by begins to reconcile. */
  lead(): Promise<void>;
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
    scrape: async () => void (await ask("scrape")),
    observe: async (isObserving) => void (await ask(isObserving ? "metrics and Events" : "neither metrics nor Events")),
    restartDelays: async () => void (await ask("restart of the delays")),
    freeze: () => program.signal("SIGSTOP"),
    thaw: () => program.signal("SIGCONT"),
    lead: async () => void (await ask("leadership")),
    converged,
    async settled(deadlineMs) {
      await ask("another look whether it has converged");
      await converged(deadlineMs);
    },
    stop: () => program.stop(),
  };
}
