/** The demo endpoints' replies. */
import { type Static, Type } from "typebox";
import { closed, literals } from "../../crds/schema.ts";
import { CreateReply } from "./environments.ts";
import { Instant } from "./fields.ts";

const Demo = Type.Literal(true, { description: "Marks what is no real data, or made for a demo." });
const Count = Type.Integer({ minimum: 0 });
const Money = Type.Number({ description: "In `currency`." });

const Trend = closed(
  { date: Type.String({ format: "date" }), created: Count, deleted: Count, failed: Count },
  { title: "DemoTrend" },
);

export const DemoDashboard = closed(
  {
    demo: Demo,
    period: closed({ from: Instant, to: Instant }),
    environments: closed({ created: Count, deleted: Count, expired: Count, failed: Count, active: Count }),
    success_rate: Type.Number({ description: "Between 0 and 1: what came up of what was created." }),
    average_lifetime_hours: Type.Number(),
    average_provision_seconds: Type.Number(),
    peak_concurrent: Count,
    active_users: Count,
    total_cost: Money,
    total_cost_cents: Type.Integer(),
    currency: literals(["USD"]),
    top_repositories: Type.Array(closed({ id: Type.String(), environments: Count }, { title: "DemoRepository" })),
    trends: Type.Array(Trend),
  },
  { title: "DemoDashboard" },
);
export type DemoDashboard = Static<typeof DemoDashboard>;

export const SampleReply = closed({ ...CreateReply.properties, demo: Demo });
