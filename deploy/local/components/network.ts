import { forwards } from "../network/addresses.ts";
import { makeNetwork } from "../network/network.ts";
import { makeControlGroup } from "../processes/control-groups.ts";
import type { UnbuiltComponent } from "./component.ts";

/** The bridge, its firewall, and the pods' control group. */
export const networkComponent: UnbuiltComponent = network();

/** The same network, but pods may reach the forwards. */
export const forwardingNetworkComponent: UnbuiltComponent = network(Object.values(forwards).map(({ port }) => port));

function network(opened: readonly number[] = []): UnbuiltComponent {
  return {
    name: "network",
    after: [],
    needsBuild: false,
    start: async () => {
      await Promise.all([makeNetwork(opened), makeControlGroup()]);
    },
  };
}
