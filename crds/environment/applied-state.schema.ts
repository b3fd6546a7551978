import { type Static, Type } from "typebox";
import { literals, text, timestamp } from "../schema.ts";

/** State of a pull request at the last write of its environment; older states change nothing. */
export const AppliedState = Type.Object(
  {
    at: timestamp("Time of the state, by the host's clock."),
    state: literals(["open", "closed"], { description: "State of the pull request." }),
    commit: text(64, "The newest commit of its head branch then."),
  },
  {
    description:
      "The state of the pull request that the environment was last written for; what is older changes nothing.",
  },
);
export type AppliedState = Static<typeof AppliedState>;
