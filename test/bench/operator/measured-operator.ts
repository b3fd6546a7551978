import { tmpdir } from "node:os";
import { compileCacheIn, nodeFlags } from "../../../deploy/bundle/operator-bundle.ts";
import { until } from "../../support/fixtures/until.ts";
import { startProgram } from "../child-program.ts";
import type { Delays } from "../event-loop.ts";

export interface MeasuredOptions {
  /** The API server, the PEM file of its authority, and the bearer token of the platform's service account. */
  readonly url: string;
  readonly caFile: string;
  readonly token: string;
  readonly settings: object;
  /** Milliseconds that its clock, and its view of the API server's, are ahead. */
  readonly aheadMs: number;
  /** True: it reads all objects, and reconciles only after the request to lead. */
  readonly isStandby?: boolean;
}

/** Questions to the process; it answers with its figures. */
export type Question =
  | "figures"
  | "leadership"
  | "metrics and Events"
  | "neither metrics nor Events"
  | "restart of the delays"
  | "another look whether it has converged"
  | "scrape";

export interface Figures {
  readonly isSynced: boolean;
  /**
   * The time at which every environment had been reconciled and none was queued (at the last `settled`), by the machine's
   * clock.
   */
  readonly convergedAtMs?: number;
  readonly reconciles: number;
  readonly cpuSeconds: number;
  /** Sent writes since the start, by verb and kind. */
  readonly writes: Readonly<Record<string, number>>;
  /** Time of a deletion's answer by environment, by the process's own clock. */
  readonly expired: Readonly<Record<string, number>>;
  readonly rssMib: number;
  readonly peakMib: number;
  readonly heapMib: number;
  /** Size of the last scrape. */
  readonly scrapeBytes: number;
  /** Delays of its event loop, since the start or the last `restartDelays`. */
  readonly delays: Delays;
  /** Requested lists since the start: paths with queries. */
  readonly lists: readonly string[];
}

export interface MeasuredOperator {
  readonly startedAtMs: number;
  figures(): Promise<Figures>;
  /** Switches metrics and Events on, as at the start, or off; answers the figures of that moment. */
  observe(isObserving: boolean): Promise<Figures>;
  /** Scrapes the process's metrics, as a monitoring system does. */
  scrape(): Promise<void>;
  restartDelays(): Promise<void>;
  /** Suspends the process; nothing queries it meanwhile. */
  freeze(): void;
  thaw(): void;
  /** Makes a standby process reconcile. */
  lead(): Promise<void>;
  /** Waits until it has converged on the objects at its start; answers the figures of that moment. */
  converged(deadlineMs: number): Promise<Figures & { readonly convergedAtMs: number }>;
  /** Waits until it has converged on its current objects. */
  settled(deadlineMs: number): Promise<void>;
  stop(): Promise<void>;
}

/** Writes of Events, and all others, since the start. */
export function writesOf({ writes }: Figures): { readonly events: number; readonly others: number } {
  const sum = (isOne: (title: string) => boolean) =>
    Object.entries(writes).reduce((all, [title, count]) => all + (isOne(title) ? count : 0), 0);
  const isEvent = (title: string) => title.endsWith(" Event");
  return { events: sum(isEvent), others: sum((title) => !isEvent(title)) };
}

const PROGRAM = new URL("measured-process.ts", import.meta.url);

/** Starts the operator in a separate process, also with the flags of `BENCH_NODE_FLAGS`, such as `--cpu-prof`. */
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
    observe: (isObserving) => ask(isObserving ? "metrics and Events" : "neither metrics nor Events"),
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
