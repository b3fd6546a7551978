import { useState } from "preact/hooks";
import type { EnvironmentAnalytics, InsightsDashboard, SleepInsights, UserActivity } from "../../sdk/index.ts";
import { BarChart } from "../charts/bar-chart.tsx";
import { PeriodChoice, type Window } from "../charts/period.tsx";
import { Figure } from "../parts/facts.tsx";
import { LoadedView } from "../parts/loaded-view.tsx";
import { Page } from "../parts/page.tsx";
import { amountText, durationText, shareText } from "../parts/words.ts";
import { platform } from "../platform/client.ts";
import { useLoaded } from "../platform/loading.ts";
import { InsightTables } from "./insight-tables.tsx";
import { Sleep } from "./sleep.tsx";

interface Shown {
  readonly dashboard: InsightsDashboard;
  readonly analytics: EnvironmentAnalytics;
  readonly activity: UserActivity;
  readonly sleep: SleepInsights;
}

/** Statistics of environments, and their creators. */
export function InsightsScreen() {
  const [window, setWindow] = useState<Window>("30d");
  const shown = useLoaded<Shown>(window, async (signal) => {
    const options = { query: { window }, signal };
    const [dashboard, analytics, activity, sleep] = await Promise.all([
      platform.call("GET /api/v2/insights/dashboard", options),
      platform.call("GET /api/v2/insights/environments/analytics", options),
      platform.call("GET /api/v2/insights/users/activity", options),
      platform.call("GET /api/v2/insights/sleep", options),
    ]);
    return { dashboard, analytics, activity, sleep };
  });
  return (
    <Page title="Insights" actions={<PeriodChoice value={window} choose={setWindow} />}>
      <LoadedView of={shown} what="The insights">
        {({ dashboard, analytics, activity, sleep }) => (
          <>
            <Figures of={dashboard} />
            <div class="grid">
              <section class="card" aria-label="Environments by day">
                <BarChart
                  title="Environments by day"
                  series={["created", "deleted", "failed"]}
                  columns={dashboard.trends.map(({ date, created, deleted, failed }) => ({
                    label: date,
                    values: [created, deleted, failed],
                  }))}
                  text={(value) => amountText(value, "")}
                />
              </section>
              <section class="card" aria-label="People by day">
                <BarChart
                  title="People who created environments"
                  series={["People"]}
                  columns={activity.series.map(({ date, active_users }) => ({ label: date, values: [active_users] }))}
                  text={(value) => amountText(value, "")}
                />
              </section>
            </div>
            <Sleep of={sleep} />
            <InsightTables analytics={analytics} activity={activity} />
          </>
        )}
      </LoadedView>
    </Page>
  );
}

function Figures({ of }: { readonly of: InsightsDashboard }) {
  const { environments, average_provision_seconds: seconds, average_lifetime_hours: hours } = of;
  return (
    <dl class="figures">
      <Figure name="There now" value={environments.active} note={`at most ${of.peak_concurrent} at once`} />
      <Figure
        name="Created"
        value={environments.created}
        note={of.active_users === 1 ? "by 1 person" : `by ${of.active_users} people`}
      />
      <Figure name="Became ready" value={shareText(of.success_rate)} note={`${environments.failed} failed`} />
      <Figure
        name="Until ready"
        value={seconds === null ? "unknown" : durationText(seconds * 1000)}
        note="on average"
      />
      <Figure
        name="Lifetime"
        value={amountText(hours, "h")}
        note={`${environments.expired} expired, ${environments.deleted} deleted`}
      />
    </dl>
  );
}
