import { type Static, Type } from "typebox";
import { timestamp } from "../../schema.ts";

/** Beyond this number the oldest are dropped: their time is priced by what was requested. */
export const MOST_ALLOCATIONS = 100;

const money = (description: string) =>
  Type.Integer({ format: "int64", minimum: 0, description: `${description}, in thousandths of a cent.` });

const Allocation = Type.Object({
  from: timestamp("The start of the period."),
  to: timestamp("Its end, on the same day (UTC)."),
  cpu: money("What CPU cost"),
  memory: money("What memory cost"),
  storage: money("What volumes cost"),
  other: money("What the rest cost: GPUs, network, load balancers"),
});
export type Allocation = Static<typeof Allocation>;

export const Allocations = Type.Array(Allocation, {
  maxItems: MOST_ALLOCATIONS,
  description:
    "What OpenCost allocated to the environment, the oldest first. For these times it is its cost, whatever was requested.",
});
export type Allocations = Static<typeof Allocations>;
