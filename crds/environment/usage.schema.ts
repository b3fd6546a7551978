import { type Static, Type } from "typebox";
import { timestamp } from "../schema.ts";

/** Most changes; beyond it the oldest become one with their average. */
export const USAGE_MAX_CHANGES = 100;

const amount = (description: string) => Type.Integer({ format: "int64", minimum: 0, description });

/** Fields of requested resources. */
export const RequestedResources = {
  cpuMillicores: amount("CPU, in thousandths of a core."),
  memoryMebibytes: amount("Memory, in MiB."),
  storageMebibytes: amount("Volumes, in MiB."),
};

const UsageChange = Type.Object({
  since: timestamp("Begin of the request."),
  ...RequestedResources,
});
export type UsageChange = Static<typeof UsageChange>;

export const Usage = Type.Array(UsageChange, {
  maxItems: USAGE_MAX_CHANGES,
  description:
    "Requests of its pods and volumes, as its ResourceQuota counts them: each change with its begin, the oldest first. Costs are computed from them.",
});
export type Usage = Static<typeof Usage>;

/** Most allocations; beyond it the oldest are dropped: their time is priced by what was requested. */
export const MOST_ALLOCATIONS = 100;

const money = (description: string) =>
  Type.Integer({ format: "int64", minimum: 0, description: `${description}, in thousandths of a cent.` });

const Allocation = Type.Object({
  from: timestamp("The start of the period."),
  to: timestamp("End, on the same day (UTC)."),
  cpu: money("Cost of CPU"),
  memory: money("Cost of memory"),
  storage: money("Cost of volumes"),
  other: money("Other costs: GPUs, network, load balancers"),
});
export type Allocation = Static<typeof Allocation>;

export const Allocations = Type.Array(Allocation, {
  maxItems: MOST_ALLOCATIONS,
  description:
    "Costs that OpenCost allocated to the environment, the oldest first. For these times they replace the price of its requests.",
});
export type Allocations = Static<typeof Allocations>;
