import { once, setMaxListeners } from "node:events";
import { ClusterUnavailable } from "../../../../crds/errors.ts";
import { linesByTime, maskedLines, momentOf, newest } from "../../../../operator/adapters/pod-logs/reading.ts";
import { printable } from "../../../../operator/masking/secret-mask.ts";
import type {
  FollowedSelection,
  LogLine,
  LogSelection,
  LogTarget,
  PodLogs,
} from "../../../../operator/ports/api/pods.ts";

/** No secrets exist here. */
const unmasked = async (text: string) => printable(text);

export interface MemoryPodLogs extends PodLogs {
  /** Writes a line of a container of a component, or of a workload by its kind and name. */
  write(environment: string, writer: string, line: { readonly at: Date; readonly text: string }): void;
  setReachable(reachable: boolean): void;
  /** Keeps followers connected until their signal; by default they are disconnected after the existing lines. */
  holdFollowers(): void;
  readonly followers: number;
}

const writerOf = (target: LogTarget) =>
  "workload" in target ? `${target.workload.kind}/${target.workload.name}` : target.component;

/** Logs without a cluster; fulfils `podLogsSuite`. */
export function memoryPodLogs(): MemoryPodLogs {
  const written = new Map<string, LogLine[]>();
  const arrivals = new EventTarget();
  // One for each follower.
  setMaxListeners(0, arrivals);
  let isReachable = true;
  let isHolding = false;
  let followers = 0;
  const linesOf = (environment: string, target: LogTarget) => written.get(`${environment}/${writerOf(target)}`) ?? [];

  const tail = (lines: readonly LogLine[], selection: LogSelection) => {
    if (!isReachable) throw new ClusterUnavailable(5);
    const { sinceSeconds } = selection;
    const from = sinceSeconds === undefined ? "" : momentOf(new Date(Date.now() - sinceSeconds * 1000));
    return newest(
      lines.filter(({ at }) => at >= from),
      selection.lines,
    );
  };

  /** One container and one clock. */
  const reported = async (lines: readonly LogLine[]) =>
    (await maskedLines(lines, unmasked)).map((line) => ({ ...line, position: line.at }));

  async function* follow(all: () => readonly LogLine[], { after = "", signal, ...limits }: FollowedSelection) {
    followers += 1;
    let known = all().length;
    try {
      const missed = all().filter(({ at }) => at > after);
      yield await reported(tail(missed, after === "" ? limits : { lines: 1000 }));
      while (isHolding && !signal.aborted) {
        const added = all().slice(known);
        known += added.length;
        yield await reported(linesByTime(added));
        if (all().length === known) await once(arrivals, "line", { signal }).catch(() => undefined);
      }
    } finally {
      followers -= 1;
    }
  }

  return {
    tail: async ({ name }, target, selection) => maskedLines(tail(linesOf(name, target), selection), unmasked),
    follow: ({ name }, target, selection) => follow(() => linesOf(name, target), selection),
    write(environment, writer, { at, text }) {
      const key = `${environment}/${writer}`;
      written.set(key, [...(written.get(key) ?? []), { at: momentOf(at), text }]);
      arrivals.dispatchEvent(new Event("line"));
    },
    setReachable: (reachable) => {
      isReachable = reachable;
    },
    holdFollowers: () => {
      isHolding = true;
    },
    get followers() {
      return followers;
    },
  };
}
