import { buildCommand } from "@stricli/core";
import type { CostDashboard } from "../../sdk/index.ts";
import type { Context } from "../context.ts";
import { type OutputFlags, print } from "../output/print.ts";
import { documented, outputAliases, outputFlags } from "../parameters.ts";

const WINDOWS = ["24h", "7d", "30d"] as const;
const BY = { environment: "top_environments", repository: "by_repository", creator: "by_creator" } as const;
type By = keyof typeof BY;

interface Flags extends OutputFlags {
  readonly window: (typeof WINDOWS)[number];
  readonly by: By;
}

interface Row {
  readonly name: string;
  readonly cost: number | null;
}

async function run(this: Context, { window, by, ...flags }: Flags): Promise<void> {
  const route = "GET /api/v2/observability/costs/dashboard";
  const costs = await this.client().call(route, { query: { window } });
  const { currency } = costs.summary;
  const columns = [
    { title: by.toUpperCase(), of: ({ name }: Row) => name },
    { title: `COST (${currency})`, of: ({ cost }: Row) => cost },
  ];
  await print(this, { data: costs, items: rowsOf(costs, by), columns, name: ({ name }) => name }, flags);
  this.say(sumOf(costs));
}

function rowsOf(costs: CostDashboard, by: By): Row[] {
  if (by === "environment") return costs.top_environments.map(({ name, total_cost }) => ({ name, cost: total_cost }));
  return costs[BY[by]].map(({ id, kind, total_cost }) => ({ name: id ?? `(${kind})`, cost: total_cost }));
}

function sumOf({ summary, budget }: CostDashboard): string {
  const { currency, total_cost, projected_month, active_environments } = summary;
  const money = (amount: number | null) => (amount === null ? "unknown" : `${amount} ${currency}`);
  const limit = budget.limit === null ? "" : `; the budget of a month is ${money(budget.limit)} (${budget.state})`;
  return `All ${active_environments} environments: ${money(total_cost)}; this month probably ${money(projected_month)}${limit}.`;
}

/** `eenv costs`. */
export const costs = buildCommand<Flags, [], Context>({
  func: run,
  parameters: {
    flags: {
      window: { kind: "enum", values: WINDOWS, brief: "Period before now", default: "30d" },
      by: { kind: "enum", values: ["environment", "repository", "creator"], brief: "Rows of", default: "environment" },
      ...outputFlags,
    },
    aliases: outputAliases,
  },
  docs: documented("Show what environments cost", ["costs", "costs --window 7d --by repository"]),
});
