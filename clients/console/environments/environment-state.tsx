import type { EnvironmentProgress, EnvironmentStatus } from "../../sdk/index.ts";
import { State } from "../parts/state.tsx";

interface EnvironmentStateProps {
  readonly of: {
    readonly status: EnvironmentStatus;
    readonly suspended: boolean;
    readonly protected: boolean;
    readonly progress?: EnvironmentProgress;
  };
}

/** State of an environment, with progress and switches. */
export function EnvironmentState({ of }: EnvironmentStateProps) {
  const { status, suspended, progress } = of;
  const isUnderWay = status === "creating" || status === "building" || status === "updating";
  // Ready to wake; no pod runs.
  const state = suspended && status === "ready" ? "asleep" : status;
  return (
    <span class="states">
      <State state={state} />
      {isUnderWay && progress !== undefined && progress.total > 0 && (
        <span class="quiet">
          {progress.done} of {progress.total}
        </span>
      )}
      {suspended && state !== "asleep" && <span class="tag">asleep</span>}
      {of.protected && <span class="tag">protected</span>}
    </span>
  );
}
