import { useState } from "preact/hooks";
import { useRoute } from "preact-iso";
import type { EnvironmentReport } from "../../sdk/index.ts";
import { EnvironmentState } from "../environments/environment-state.tsx";
import { LiveMark } from "../environments/live-mark.tsx";
import { LogsView } from "../logs/logs-view.tsx";
import { environmentPath } from "../parts/addresses.ts";
import { Empty } from "../parts/empty.tsx";
import { FailureBox } from "../parts/failure-box.tsx";
import { Waiting } from "../parts/loaded-view.tsx";
import { Page } from "../parts/page.tsx";
import { type StreamState, useFollowing } from "../platform/following.ts";
import { Actions } from "./actions.tsx";
import { HistoryView } from "./history-view.tsx";
import { Overview } from "./overview.tsx";

const TABS = [
  ["", "Overview"],
  ["logs", "Logs"],
  ["history", "History"],
] as const;

/** One environment, live. */
export function EnvironmentScreen() {
  const { params } = useRoute();
  const { name = "", tab = "", component = "" } = params;
  // Each has a state of its own.
  return <OneEnvironment key={name} {...{ name, tab, component }} />;
}

interface OneEnvironmentProps {
  readonly name: string;
  readonly tab: string;
  readonly component: string;
}

function OneEnvironment({ name, tab, component }: OneEnvironmentProps) {
  const [environment, setEnvironment] = useState<EnvironmentReport>();
  const path = { environment_id: name };
  const stream = useFollowing("GET /api/v2/environments/{environment_id}/stream", { path }, setEnvironment);
  const isGone = stream === "over";
  return (
    <Page
      title={name}
      about={
        environment && (
          <>
            <EnvironmentState of={environment} /> <LiveMark state={stream} />
          </>
        )
      }
      actions={environment && !isGone && <Actions environment={environment} />}
    >
      {typeof stream === "object" && <FailureBox title="The environment can't be followed" error={stream.error} />}
      {isGone ? (
        <Gone name={name} wasThere={environment !== undefined} />
      ) : (
        <>
          <Tabs name={name} tab={tab} />
          {environment === undefined ? <NotYet state={stream} /> : <Tab {...{ tab, environment, component }} />}
        </>
      )}
    </Page>
  );
}

function NotYet({ state }: { readonly state: StreamState }) {
  if (typeof state === "object") return null;
  if (state === "interrupted")
    return <Empty title="The platform does not answer">It is asked again until it does.</Empty>;
  return <Waiting />;
}

function Tabs({ name, tab }: { readonly name: string; readonly tab: string }) {
  return (
    <nav class="tabs" aria-label={`Parts of ${name}`}>
      {TABS.map(([path, title]) => (
        <a key={path} href={environmentPath(name, path)} {...(tab === path && { "aria-current": "page" as const })}>
          {title}
        </a>
      ))}
    </nav>
  );
}

function Gone({ name, wasThere }: { readonly name: string; readonly wasThere: boolean }) {
  return (
    <Empty title={wasThere ? `${name} is gone` : "There is no such environment"}>
      <p>
        {wasThere ? "Everything of it has been deleted." : "It may have been deleted, or it is not shared with you."}
      </p>
      <p>
        <a href="/console/">To the environments</a>
      </p>
    </Empty>
  );
}

interface TabProps {
  readonly tab: string;
  readonly component: string;
  readonly environment: EnvironmentReport;
}

function Tab({ tab, component, environment }: TabProps) {
  if (tab === "logs") return <LogsView environment={environment} component={component} />;
  if (tab === "history") return <HistoryView environment={environment} />;
  return <Overview environment={environment} />;
}
