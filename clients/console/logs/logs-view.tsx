import { useState } from "preact/hooks";
import type { EnvironmentReport } from "../../sdk/index.ts";
import { LiveMark } from "../environments/live-mark.tsx";
import { environmentPath } from "../parts/addresses.ts";
import { FailureBox } from "../parts/failure-box.tsx";
import { countText } from "../parts/words.ts";
import { platform } from "../platform/client.ts";
import { useLoaded } from "../platform/loading.ts";
import { type LogComponent, useLog } from "./log.ts";
import { asText, KEPT, matching } from "./log-lines.ts";
import { Scroll } from "./scroll.tsx";

const SINCE = [
  ["", "From the beginning"],
  ["15m", "Last 15 minutes"],
  ["1h", "Last hour"],
  ["6h", "Last 6 hours"],
  ["1d", "Last day"],
] as const;

interface LogsViewProps {
  readonly environment: EnvironmentReport;
  /** Name in the address; the first one when it is empty. */
  readonly component: string;
}

/** Logs of an environment's components, masked by the platform. */
export function LogsView({ environment, component }: LogsViewProps) {
  const { id, name, urls } = environment;
  const components: readonly (readonly [LogComponent, string])[] = [
    ["backend", "Backend"],
    ...(urls.frontend === undefined ? [] : ([["frontend", "Frontend"]] as const)),
    ["argocd", "Deployer"],
  ];
  const [shown] = components.find(([own]) => own === component) ?? ["backend" as const];
  const [since, setSince] = useState("");
  const [text, setText] = useState("");
  const [workload, setWorkload] = useState("");
  const { lines, state } = useLog({ id, component: shown, workload, since, round: environment.updated_at });
  const found = matching(lines.kept, text);
  return (
    <section class="logs" aria-label="Logs">
      <div class="log-bar">
        <nav class="segments" aria-label="Component">
          {components.map(([own, title]) => (
            <a
              key={own}
              href={environmentPath(name, `logs/${own}`)}
              onClick={() => setWorkload("")}
              {...(own === shown && { "aria-current": "page" as const })}
            >
              {title}
            </a>
          ))}
        </nav>
        {shown !== "argocd" && (
          <WorkloadChoice id={id} round={environment.updated_at} chosen={workload} choose={setWorkload} />
        )}
        <select aria-label="Since" value={since} onChange={({ currentTarget }) => setSince(currentTarget.value)}>
          {SINCE.map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
        <input
          type="search"
          aria-label="Only lines with"
          placeholder="Only lines with…"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <button
          type="button"
          disabled={found.length === 0}
          onClick={() => download(`${name}-${shown}.log`, asText(found))}
        >
          Download
        </button>
      </div>
      {typeof state === "object" && <FailureBox title="The log can't be shown" error={state.error} />}
      <Scroll
        key={`${shown} ${workload} ${since}`}
        lines={found}
        total={lines.total}
        label={`Log of the ${shown}`}
        isOver={state === "over"}
      />
      <p class="log-foot quiet">
        {countText(found.length, text ? "matching line" : "line")}
        {lines.total > KEPT && `; the newest ${KEPT.toLocaleString()} of ${lines.total.toLocaleString()} are kept here`}
        {shown !== "argocd" && <LiveMark state={state} />}
      </p>
    </section>
  );
}

/** Hands a text to the reader as a file. */
function download(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

interface WorkloadChoiceProps {
  readonly id: string;
  /** Reloads when it changes, as workloads may. */
  readonly round: string;
  /** Workload as kind/name; empty: all pods of the component. */
  readonly chosen: string;
  choose(workload: string): void;
}

/** Chooses the log of the component or a workload. */
function WorkloadChoice({ id, round, chosen, choose }: WorkloadChoiceProps) {
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
