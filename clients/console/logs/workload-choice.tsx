import { platform } from "../platform/client.ts";
import { useLoaded } from "../platform/loading.ts";

interface WorkloadChoiceProps {
  readonly id: string;
  /** Reloads when it changes, as workloads may. */
  readonly round: string;
  /** Workload as kind/name; empty: all pods of the component. */
  readonly chosen: string;
  choose(workload: string): void;
}

/** Chooses the log of the component or a workload. */
export function WorkloadChoice({ id, round, chosen, choose }: WorkloadChoiceProps) {
  const path = { environment_id: id };
  const { value } = useLoaded(`${id} ${round}`, (signal) =>
    platform.call("GET /api/v2/environments/{environment_id}/workloads", { path, signal }),
  );
  const titles = (value?.workloads ?? []).map(({ kind, name }) => `${kind}/${name}`);
  // The choice stays visible without its workload.
  const shown = chosen === "" || titles.includes(chosen) ? titles : [chosen, ...titles];
  return (
    <select aria-label="Workload" value={chosen} onChange={({ currentTarget }) => choose(currentTarget.value)}>
      <option value="">All of the component</option>
      {shown.map((title) => (
        <option key={title} value={title}>
          {title}
        </option>
      ))}
    </select>
  );
}
