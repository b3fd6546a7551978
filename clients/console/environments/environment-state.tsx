import type { EnvironmentProgress, EnvironmentStatus, ListedEnvironmentReport } from "../../sdk/index.ts";
import { State } from "../parts/state.tsx";
import { rests } from "./rests.ts";

interface EnvironmentStateProps {
  readonly of: {
    readonly status: EnvironmentStatus;
    readonly suspended: boolean;
    readonly sleep: ListedEnvironmentReport["sleep"];
    readonly protected: boolean;
    readonly progress?: EnvironmentProgress;
  };
}

/** State of an environment, with progress and switches. */
export function EnvironmentState({ of }: EnvironmentStateProps) {
  const { status, progress } = of;
  const isResting = rests(of);
  const isUnderWay = status === "creating" || status === "building" || status === "updating";
  // Ready to wake; no pod runs.
  const state = isResting && status === "ready" ? "asleep" : status;
  return (
    <span class="states">
      <State state={state} />
      {isUnderWay && progress !== undefined && progress.total > 0 && (
        <span class="quiet">
          {progress.done} of {progress.total}
        </span>
      )}
      {isResting && state !== "asleep" && <span class="tag">asleep</span>}
      {of.protected && <span class="tag">protected</span>}
    </span>
  );
}
