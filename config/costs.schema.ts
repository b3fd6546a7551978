/** What resources cost, and how much may be spent. */
import { type Static, Type } from "typebox";
import { closed } from "../crds/schema.ts";

const Price = (byDefault: number, description: string) => Type.Number({ minimum: 0, default: byDefault, description });

export const Costs = closed(
  {
    currency: Type.String({ pattern: "^[A-Z]{3}$", default: "USD", description: "ISO 4217." }),
    // The prices that OpenCost takes where it knows no others: https://opencost.io/docs/configuration/on-prem.
    cpuCoreHour: Price(0.031611, "What one core costs that is requested for an hour."),
    memoryGibHour: Price(0.004237, "What a GiB of memory costs that is requested for an hour."),
    storageGibHour: Price(0.00005479452, "What a GiB of volumes costs that is requested for an hour."),
    monthlyBudget: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        description: "What all environments together may cost in a month (UTC); figures say how much of it is used.",
      }),
    ),
  },
  {
    default: {},
    description:
      "Prices of what environments request. They hold for all figures, also those of the past: what is stored are resources, not money.",
  },
);
export type Costs = Static<typeof Costs>;
