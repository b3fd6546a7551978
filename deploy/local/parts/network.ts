import { makeControlGroup } from "../control-groups.ts";
import { makeNetwork } from "../network.ts";
import type { Part } from "./part.ts";

/** The bridge, its closed door, and the control group of the pods. */
export const networkPart: Part = {
  name: "network",
  after: [],
  start: async () => {
    await Promise.all([makeNetwork(), makeControlGroup()]);
  },
};
