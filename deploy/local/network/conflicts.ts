import { holds } from "../../../crds/addresses.ts";
import { run } from "../../build/run.ts";
import { addresses } from "./addresses.ts";

/** A route, as far as `ip -json route show` tells it to us. */
export interface Route {
  /** `default`, an IPv4 network (`10.0.0.0/8`) or an address. */
  readonly dst: string;
  /** The next router; absent where the network is on the link itself. */
  readonly gateway?: string;
  readonly dev?: string;
}

/**
 * Fails in one sentence when something on this machine has the tables or the networks that the local cluster is going
 * to use. Nothing of the local cluster may be there any more.
 */
export async function assertNetworkIsFree(): Promise<void> {
  const tables = await run("nft", ["list", "tables"]);
  if (tables.split("\n").some(isKubeProxyTable)) {
    throw new Error(
      "Another kube-proxy has its rules on this machine (nft list tables); use its cluster with CLUSTER=existing instead.",
    );
  }
  const route = conflictingRoute(JSON.parse(await run("ip", ["-json", "-4", "route", "show"])));
  if (!route) return;
  const { bridge, serviceNetwork } = addresses;
  const way = route.dev ? ` on ${route.dev}` : "";
  throw new Error(
    `The network ${route.dst}${way} overlaps with those of the local cluster, ${bridge.network} and ${serviceNetwork}.`,
  );
}

/** Whether a line of `nft list tables` (`table ip kube-proxy`) names a table that a kube-proxy makes. */
export function isKubeProxyTable(line: string): boolean {
  return line.split(" ")[2] === "kube-proxy";
}

/**
 * The first route that leads to where the local cluster's networks will be. The default route is none, nor is a wider
 * one through a router: the cluster only takes its own addresses out of it.
 */
export function conflictingRoute(routes: readonly Route[]): Route | undefined {
  return routes.find(({ dst, gateway }) => {
    const led = dst.includes("/") ? dst : `${dst}/32`;
    const isOverlapping = (ours: string) => holds(ours, led) || (holds(led, ours) && gateway === undefined);
    return dst !== "default" && [addresses.bridge.network, addresses.serviceNetwork].some(isOverlapping);
  });
}
