/** The demo endpoints' replies. */
import { type Static, Type } from "typebox";
import { closed } from "../../crds/schema.ts";
import { CreateReply } from "../environments/schemas.ts";
import { dashboard } from "../insights/schemas.ts";
import { titled } from "../schemas/fields.ts";

const Demo = Type.Literal(true, { examples: [true], description: "Marks demo data." });
const DAYS = [
  ["2026-01-05", 18, 14, 1],
  ["2026-01-12", 24, 20, 0],
  ["2026-01-19", 31, 27, 2],
  ["2026-01-26", 27, 29, 1],
] as const;

/** A month of a company that does not exist. */
export const DEMO_DASHBOARD = {
  demo: true as const,
  period: { from: "2026-01-01T00:00:00.000Z", to: "2026-01-31T00:00:00.000Z" },
  environments: { created: 100, deleted: 62, expired: 28, failed: 4, active: 10 },
  success_rate: 0.96,
  average_lifetime_hours: 19.5,
  average_provision_seconds: 74.2,
  peak_concurrent: 17,
  active_users: 12,
  total_cost: 184.2,
  total_cost_cents: 18420,
  currency: "USD" as const,
  top_repositories: [
    { id: "shop-api", environments: 58 },
    { id: "billing-api", environments: 42 },
  ],
  trends: DAYS.map(([date, created, deleted, failed]) => ({ date, created, deleted, failed })),
};

export const DemoDashboard = closed({ demo: Demo, ...dashboard }, titled("DemoDashboard", DEMO_DASHBOARD));
export type DemoDashboard = Static<typeof DemoDashboard>;

export const SampleReply = closed({ ...CreateReply.properties, demo: Demo });
