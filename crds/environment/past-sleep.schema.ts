import { type Static, Type } from "typebox";
import { literals, timestamp } from "../schema.ts";
import { RequestedResources } from "./usage.schema.ts";

/** Most sleeps; beyond it the oldest are dropped: the sums of past days keep them. */
export const MOST_SLEEPS = 100;

/** Causes of a sleep. */
export const REST_CAUSES = ["schedule", "idle", "person"] as const;
/** Causes of a wake. */
export const WAKE_CAUSES = ["schedule", "person", "request"] as const;
export type WakeCause = (typeof WAKE_CAUSES)[number];

const PastSleep = Type.Object({
  since: timestamp("Begin of the sleep."),
  cause: literals(REST_CAUSES, { description: "Cause of the sleep; person: one suspended it." }),
  awake: Type.Optional(
    Type.Object(RequestedResources, {
      description: "Requests of its pods and volumes when it was last awake; absent when these are unknown.",
    }),
  ),
  until: Type.Optional(timestamp("End of the sleep; absent while it lasts, and where a deletion ended it.")),
  wokenBy: Type.Optional(
    literals(WAKE_CAUSES, {
      description: "Cause of the wake; absent where another sleep followed at once. request: one to its host.",
    }),
  ),
  requestedAt: Type.Optional(timestamp("Time of the request that woke it, if one did.")),
  awakeAt: Type.Optional(timestamp("Time when it answered again.")),
});
export type PastSleep = Static<typeof PastSleep>;

export const PastSleeps = Type.Array(PastSleep, {
  maxItems: MOST_SLEEPS,
  description:
    "Times in which the environment was asleep or suspended, the oldest first: what sleep saved, and how long waking took, are computed from them.",
});
export type PastSleeps = Static<typeof PastSleeps>;
