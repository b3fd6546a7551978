import { useState } from "preact/hooks";
import type { CostAnalysis, CostDashboard, UserActivity } from "../../sdk/index.ts";
import { BarChart } from "../charts/bar-chart.tsx";
import { PeriodChoice, type Window } from "../charts/period.tsx";
import { environmentPath } from "../parts/addresses.ts";
import { Figure } from "../parts/facts.tsx";
import { LoadedView } from "../parts/loaded-view.tsx";
import { Page } from "../parts/page.tsx";
import { State } from "../parts/state.tsx";
import { amountText, moneyText } from "../parts/words.ts";
import { platform } from "../platform/client.ts";
import { useLoaded } from "../platform/loading.ts";
import { may } from "../platform/user.ts";
import { basisText } from "./basis.ts";
import { CostTables } from "./cost-tables.tsx";

interface Shown {
  readonly costs: CostDashboard;
  readonly analysis: CostAnalysis | undefined;
  readonly activity: UserActivity | undefined;
}

/** Costs of environments, and possible savings. */
export function CostsScreen() {
  const [window, setWindow] = useState<Window>("30d");
  const shown = useLoaded<Shown>(window, async (signal) => {
    const query = { window };
    const mayAnalyse = may("insights:read");
    const [costs, analysis, activity] = await Promise.all([
      platform.call("GET /api/v2/observability/costs/dashboard", { query, signal }),
      mayAnalyse ? platform.call("GET /api/v2/insights/costs/analysis", { query, signal }) : undefined,
      // Names of the creators: costs have only ids.
      mayAnalyse ? platform.call("GET /api/v2/insights/users/activity", { query, signal }) : undefined,
    ]);
    return { costs, analysis, activity };
  });
  return (
    <Page title="Costs" actions={<PeriodChoice value={window} choose={setWindow} />}>
      <LoadedView of={shown} what="The costs">
        {({ costs, analysis, activity }) => (
          <>
            <Figures costs={costs} />
            <p class="quiet">{basisText(costs.summary.basis, costs.summary.coverage)}</p>
            <BarChart
              title="Cost by day"
              series={["Cost"]}
              columns={costs.timeseries.map(({ date, total_cost }) => ({ label: date, values: [total_cost] }))}
              text={(value) => moneyText(value, costs.summary.currency)}
            />
            {analysis && <Recommendations of={analysis} />}
            <CostTables costs={costs} people={activity?.users ?? []} />
          </>
        )}
      </LoadedView>
    </Page>
  );
}

function Figures({ costs: { summary, budget } }: { readonly costs: CostDashboard }) {
  const money = (sum: number | null) => moneyText(sum, summary.currency);
  const { cpu, memory, storage, other } = summary.by_resource;
  const { change_percent: change } = summary.previous_window;
  return (
    <dl class="figures">
      <Figure
        name="In all"
        value={money(summary.total_cost)}
        note={change !== null && `${change > 0 ? "+" : ""}${amountText(change, "%")} to the time before`}
      />
      <Figure name="This month, projected" value={money(summary.projected_month)} />
      <Figure
        name="An environment"
        value={money(summary.average_cost_per_environment)}
        note={`${summary.active_environments} there now`}
      />
      <Figure
        name="Budget of the month"
        value={budget.limit === null ? "none" : `${amountText(budget.used_percent, "%")} used`}
        note={budget.limit !== null && <State state={budget.state} />}
      />
      <Figure
        name="By resource"
        value={`CPU ${money(cpu)}`}
        note={`memory ${money(memory)}, volumes ${money(storage)}${other === null ? "" : `, other ${money(other)}`}`}
      />
    </dl>
  );
}

/** Environments that could cost less, and how. */
function Recommendations({ of: { recommendations, waste, currency } }: { readonly of: CostAnalysis }) {
  if (recommendations.length === 0) return null;
  return (
    <section class="card" aria-labelledby="save">
      <h2 id="save">{moneyText(waste.saving, currency)} could be saved</h2>
      <ul class="rows">
        {recommendations.map(({ environment, message, action, saving }) => (
          <li key={environment.id}>
            <a href={environmentPath(environment.name)}>{environment.name}</a>
            <span>{message}</span>
            <span class="quiet">
              {action}: {moneyText(saving, currency)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
