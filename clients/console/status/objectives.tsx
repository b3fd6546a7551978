import type { ServiceLevels } from "../../sdk/index.ts";
import { State } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { amountText, shareText } from "../parts/words.ts";

/** Objectives of the platform, and their fulfilment. */
export function Objectives({ of: { objectives, overall } }: { readonly of: ServiceLevels }) {
  return (
    <section class="card" aria-labelledby="objectives">
      <div class="card-head">
        <h2 id="objectives">Service levels</h2>
        <State state={overall} />
      </div>
      <Table caption="Service levels" columns={["Objective", "State", "#Kept", "#Target", "#Budget left"]} isStacked>
        {objectives.map(({ id, description, state, availability, target, error_budget }) => (
          <tr key={id}>
            <th scope="row">{description}</th>
            <td data-label="State">
              <State state={state} />
            </td>
            <td data-label="Kept" class="number">
              {shareText(availability)}
            </td>
            <td data-label="Target" class="number">
              {shareText(target)}
            </td>
            <td data-label="Budget left" class="number">
              {amountText(error_budget.remaining_percent, "%")}
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
