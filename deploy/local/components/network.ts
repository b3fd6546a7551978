import { makeNetwork } from "../network/network.ts";
import { makeControlGroup } from "../processes/control-groups.ts";
import type { Component } from "./component.ts";

/** The bridge, its closed door, and the control group of the pods. */
export const networkComponent: Component = {
  name: "network",
  after: [],
  start: async () => {
    await Promise.all([makeNetwork(), makeControlGroup()]);
  },
};
