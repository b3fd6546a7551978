/** How environments are deleted when their time is over, and what is left of deleted ones. */
import { Type } from "typebox";
import { closed } from "../crds/schema.ts";

/** The number beyond which deletions wait for a confirmation: more than the share and more than the minimum. */
const breaker = (defaults: { share: number; atLeast: number }, description: string) =>
  closed(
    {
      share: Type.Number({ minimum: 0, maximum: 1, default: defaults.share, description: "Of all environments." }),
      atLeast: Type.Integer({
        minimum: 0,
        default: defaults.atLeast,
        description: "Up to this number nothing is blocked.",
      }),
    },
    { default: {}, description },
  );

export const Expiry = closed(
  {
    perSecond: Type.Integer({
      minimum: 1,
      default: 500,
      description: "How many due environments are deleted in a second at most, the oldest first.",
    }),
    breaker: breaker(
      { share: 0.5, atLeast: 50 },
      "When more than this are due at the same moment, none is deleted until an admin confirms or fewer are due.",
    ),
  },
  { default: {} },
);

export const Sweep = closed(
  {
    everySeconds: Type.Integer({ minimum: 1, default: 300, description: "How often orphans are looked for." }),
    graceSeconds: Type.Integer({
      minimum: 1,
      default: 600,
      description: "How long an orphan is only reported: since it was first seen, and since it was created.",
    }),
    breaker: breaker(
      { share: 0.1, atLeast: 5 },
      "When orphans of more environments than this are due, none is removed until an admin confirms.",
    ),
  },
  { default: {}, description: "Garbage collection: removes objects of environments that no longer exist." },
);

export const Records = closed(
  {
    atMost: Type.Integer({ minimum: 0, default: 10_000, description: "How many; the oldest are removed." }),
    days: Type.Integer({ minimum: 1, default: 90, description: "How long." }),
  },
  { default: {}, description: "How many records of deleted environments are kept, and how long." },
);
