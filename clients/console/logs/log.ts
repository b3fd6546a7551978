import { useEffect, useState } from "preact/hooks";
import type { LogEntry } from "../../sdk/index.ts";
import { platform } from "../platform/client.ts";
import { keepFollowing, type StreamState } from "../platform/following.ts";
import { type Lines, NO_LINES, withLines } from "./log-lines.ts";

export type Component = "backend" | "frontend" | "argocd";

export interface Log {
  readonly lines: Lines;
  readonly state: StreamState;
}

interface LogSource {
  readonly id: string;
  readonly component: Component;
  /** A workload instead of the component, as kind/name; empty: the component. */
  readonly workload: string;
  /** Maximum age, as `1h`; empty: all. */
  readonly since: string;
  /** Reloads when it changes; for the deployer's report, which is no stream. */
  readonly round: string;
}

/** The platform's limit of one answer. */
const MOST_LINES = 1_000;

/** Lines of a component, live. */
export function useLog({ id, component, workload, since, round }: LogSource): Log {
  const [log, setLog] = useState<Log>({ lines: NO_LINES, state: "connecting" });
  const isStream = component !== "argocd";
  useEffect(() => {
    setLog({ lines: NO_LINES, state: "connecting" });
    const add = (added: readonly LogEntry[]) =>
      setLog(({ lines, state }) => ({ state, lines: withLines(lines, added) }));
    const query = { lines: MOST_LINES, ...(since && { since }), ...(workload && isStream && { workload }) };
    const tell = (state: StreamState) => setLog(({ lines }) => ({ lines, state }));
    return component === "argocd"
      ? readReport(id, query, { add, tell })
      : followPods({ id, component, query }, { add, tell });
  }, [id, component, workload, since, isStream ? "" : round]);
  return log;
}

interface Taker {
  readonly add: (added: readonly LogEntry[]) => void;
  readonly tell: (state: StreamState) => void;
}

type Query = { readonly lines: number; readonly since?: string; readonly workload?: string };
type PodComponent = Exclude<Component, "argocd">;

/** Lines come in bursts; they are shown once per animation frame. */
function followPods(
  { id, component, query }: { id: string; component: PodComponent; query: Query },
  { add, tell }: Taker,
) {
  let waiting: LogEntry[] = [];
  let frame = 0;
  const flush = () => {
    frame = 0;
    add(waiting);
    waiting = [];
  };
  const stop = keepFollowing(
    "GET /api/v2/environments/{environment_id}/logs/{component}/stream",
    { path: { environment_id: id, component }, query },
    {
      state: tell,
      event(entry) {
        waiting.push(entry);
        frame ||= requestAnimationFrame(flush);
      },
    },
  );
  return () => {
    stop();
    cancelAnimationFrame(frame);
  };
}

function readReport(id: string, query: Query, { add, tell }: Taker): () => void {
  const request = new AbortController();
  const path = { environment_id: id, component: "argocd" } as const;
  platform
    .call("GET /api/v2/environments/{environment_id}/logs/{component}", { path, query, signal: request.signal })
    .then(
      ({ logs }) => {
        add(logs);
        tell("over");
      },
      (error: unknown) => {
        if (!request.signal.aborted) tell({ error });
      },
    );
  return () => request.abort();
}
