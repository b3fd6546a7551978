import type { CostDashboard, CostRow, User } from "../../sdk/index.ts";
import { groupName, personName } from "../charts/group-name.ts";
import { environmentPath } from "../parts/addresses.ts";
import { Table } from "../parts/table.tsx";
import { moneyText } from "../parts/words.ts";

interface CostTablesProps {
  readonly costs: CostDashboard;
  readonly people: readonly User[];
}

export function CostTables({ costs, people }: CostTablesProps) {
  const { currency } = costs.summary;
  const creators = costs.by_creator.map((row) => ({ ...row, id: personName(row.id, people) }));
  return (
    <div class="grid">
      <section class="card" aria-labelledby="top">
        <h2 id="top">The most expensive</h2>
        <Table caption="The most expensive environments" columns={["Environment", "#Cost"]}>
          {costs.top_environments.map(({ id, name, status, total_cost }) => (
            <tr key={id}>
              <th scope="row">{status === null ? `${name} (gone)` : <a href={environmentPath(name)}>{name}</a>}</th>
              <td class="number">{moneyText(total_cost, currency)}</td>
            </tr>
          ))}
        </Table>
      </section>
      <Rows title="By repository" rows={costs.by_repository} currency={currency} />
      <Rows title="By creator" rows={creators} currency={currency} />
      <Rows title="By config set" rows={costs.by_config_set} currency={currency} />
    </div>
  );
}

interface RowsProps {
  readonly title: string;
  readonly rows: readonly CostRow[];
  readonly currency: string;
}

function Rows({ title, rows, currency }: RowsProps) {
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      <Table caption={title} columns={["Name", "#Created", "#Cost"]}>
        {rows.map((row) => (
          <tr key={`${row.kind} ${row.id}`}>
            <th scope="row">{groupName(row)}</th>
            <td class="number">{row.created}</td>
            <td class="number">{moneyText(row.total_cost, currency)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
