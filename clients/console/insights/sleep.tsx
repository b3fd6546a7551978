import type { SleepInsights } from "../../sdk/index.ts";
import { BarChart } from "../charts/bar-chart.tsx";
import { environmentPath } from "../parts/addresses.ts";
import { Figure } from "../parts/facts.tsx";
import { Table } from "../parts/table.tsx";
import { amountText, countText, moneyText, shareText } from "../parts/words.ts";

interface SleepProps {
  readonly of: SleepInsights;
}

/** Saving by sleep, and a possible one. */
export function Sleep({ of }: SleepProps) {
  const { asleep, saved, possible, series, currency } = of;
  const { schedule, idle, person } = asleep.by_cause;
  const percent = asleep.percent === null ? null : asleep.percent / 100;
  return (
    <div class="grid">
      <section class="card" aria-labelledby="sleep">
        <h2 id="sleep">Sleep</h2>
        <dl class="figures">
          <Figure
            name="Asleep"
            value={amountText(asleep.hours, "h")}
            note={asleep.hours > 0 && `${shareText(percent)} of their time`}
          />
          <Figure name="Saved" value={moneyText(saved.total, currency)} />
          <Figure
            name="Could save"
            value={moneyText(possible.saving, currency)}
            note={`in a week, of ${countText(possible.environments, "environment")}`}
          />
        </dl>
        <p class="quiet">
          By schedule {amountText(schedule, "h")}, idle {amountText(idle, "h")}, suspended {amountText(person, "h")}.
        </p>
      </section>
      <section class="card" aria-label="Sleep by day">
        <BarChart
          title="Hours asleep"
          series={["Hours"]}
          columns={series.map(({ date, asleep_hours }) => ({ label: date, values: [asleep_hours] }))}
          text={(value) => amountText(value, "h")}
        />
      </section>
      <Candidates of={of} />
    </div>
  );
}

function Candidates({ of: { possible, currency } }: SleepProps) {
  return (
    <section class="card" aria-labelledby="could-sleep">
      <h2 id="could-sleep">Could sleep</h2>
      <p class="quiet">
        Their sleep is undecided. With the hours {possible.assumed_awake} they would save so much in the next seven
        days, or until they expire; whether they are used outside them is not known.
      </p>
      {possible.greatest.length === 0 && <p class="quiet">None.</p>}
      {possible.greatest.length > 0 && (
        <Table caption="Environments that could sleep" columns={["Environment", "#Could save"]}>
          {possible.greatest.map(({ id, name, saving }) => (
            <tr key={id}>
              <th scope="row">
                <a href={environmentPath(name)}>{name}</a>
              </th>
              <td class="number">{moneyText(saving, currency)}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}
