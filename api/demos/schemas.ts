import { type Static, Type } from "typebox";
import { closed } from "../../crds/schema.ts";
import { CreateReply } from "../environments/schemas.ts";
import { DASHBOARD_EXAMPLE } from "../insights/examples.ts";
import { dashboard } from "../insights/schemas.ts";
import { titled } from "../schemas/fields.ts";

const Demo = Type.Literal(true, { examples: [true], description: "Marks demo data." });
const DAYS = [
  ["2026-01-05", 18, 14, 1],
  ["2026-01-12", 24, 20, 0],
  ["2026-01-19", 31, 27, 2],
  ["2026-01-26", 27, 29, 1],
] as const;

/** Figures of a fictitious company's month. */
export const DEMO_DASHBOARD = {
  demo: true as const,
  ...DASHBOARD_EXAMPLE,
  period: { from: "2026-01-01T00:00:00.000Z", to: "2026-01-31T00:00:00.000Z" },
  top_repositories: [
    { id: "shop-api", environments: 58 },
    { id: "billing-api", environments: 42 },
  ],
  trends: DAYS.map(([date, created, deleted, failed]) => ({ date, created, deleted, failed })),
};

export const DemoDashboard = closed({ demo: Demo, ...dashboard }, titled("DemoDashboard", DEMO_DASHBOARD));
export type DemoDashboard = Static<typeof DemoDashboard>;

export const SampleReply = closed({ ...CreateReply.properties, demo: Demo });
