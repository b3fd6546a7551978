import { useState } from "preact/hooks";
import type { EnvironmentReport } from "../../sdk/index.ts";
import { LiveMark } from "../environments/live-mark.tsx";
import { environmentPath } from "../parts/addresses.ts";
import { FailureBox } from "../parts/failure-box.tsx";
import { countText } from "../parts/words.ts";
import { download } from "./download.ts";
import { type LogComponent, useLog } from "./log.ts";
import { asText, KEPT, matching } from "./log-lines.ts";
import { Scroll } from "./scroll.tsx";
import { WorkloadChoice } from "./workload-choice.tsx";

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
