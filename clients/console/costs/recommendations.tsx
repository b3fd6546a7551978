import type { CostAnalysis } from "../../sdk/index.ts";
import { environmentPath } from "../parts/addresses.ts";
import { moneyText } from "../parts/words.ts";

/** Environments that could cost less, and how. */
export function Recommendations({ of: { recommendations, waste, currency } }: { readonly of: CostAnalysis }) {
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
