import { type Static, Type } from "typebox";
import { timestamp } from "../schema.ts";

/** Beyond this number the oldest changes become one with their average. */
export const USAGE_MAX_CHANGES = 100;

const amount = (description: string) => Type.Integer({ format: "int64", minimum: 0, description });

const UsageChange = Type.Object({
  since: timestamp("Begin of the request."),
  cpuMillicores: amount("CPU, in thousandths of a core."),
  memoryMebibytes: amount("Memory, in MiB."),
  storageMebibytes: amount("Volumes, in MiB."),
});
export type UsageChange = Static<typeof UsageChange>;

export const Usage = Type.Array(UsageChange, {
  maxItems: USAGE_MAX_CHANGES,
  description:
    "Requests of its pods and volumes, as its ResourceQuota counts them: each change with its begin, the oldest first. Costs are computed from them.",
});
export type Usage = Static<typeof Usage>;
