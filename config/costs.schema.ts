import { type Static, Type } from "typebox";
import { closed } from "../crds/schema.ts";

const Price = (byDefault: number, description: string) => Type.Number({ minimum: 0, default: byDefault, description });

const OpenCost = closed(
  {
    url: Type.String({
      pattern: "^https?://[^\\s/?#@]+(/[^\\s?#]*)?$",
      maxLength: 512,
      description:
        "The base address of its API, such as http://opencost.opencost:9003. Its currency must be the one of the prices, and it must know no other cluster.",
    }),
    caFile: Type.Optional(
      Type.String({ minLength: 1, description: "PEM file of the authority behind its certificate." }),
    ),
    resolutionHours: Type.Integer({
      // Divisors of a day.
      enum: [1, 2, 3, 4, 6, 8, 12, 24],
      default: 1,
      description:
        "Hours that each query covers. An environment that lived for less is priced by its requests, and so is a period that is not over. Each period is a write for each environment: with thousands, choose more hours.",
    }),
  },
  {
    description:
      "Address and options of OpenCost (https://opencost.io). Its allocation to an environment is then the environment's cost; without one, requests are priced.",
  },
);

export const Costs = closed(
  {
    currency: Type.String({ pattern: "^[A-Z]{3}$", default: "USD", description: "ISO 4217." }),
    // OpenCost's default prices: https://opencost.io/docs/configuration/on-prem.
    cpuCoreHour: Price(0.031611, "Price of a requested core for an hour."),
    memoryGibHour: Price(0.004237, "Price of a requested GiB of memory for an hour."),
    storageGibHour: Price(0.00005479452, "Price of a requested GiB of volumes for an hour."),
    openCost: Type.Optional(OpenCost),
    monthlyBudget: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        description: "Budget of all environments together in a month (UTC); figures show the used share.",
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
