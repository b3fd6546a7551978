import { holds } from "../../../crds/addresses.ts";
import { run } from "../../build/run.ts";
import { addresses } from "./addresses.ts";

/** A route in the output of `ip -json route show`, as far as it is used. */
export interface Route {
  /** `default`, an IPv4 network (`10.0.0.0/8`) or an address. */
  readonly dst: string;
  /** The next router; absent for a network on the link itself. */
  readonly gateway?: string;
  readonly dev?: string;
}

/**
 * Fails with one sentence when other programs use the tables or networks of the local cluster. No part of the local cluster
 * may remain.
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

/** True for a line of `nft list tables` (`table ip kube-proxy`) with a table of a kube-proxy. */
export function isKubeProxyTable(line: string): boolean {
  return line.split(" ")[2] === "kube-proxy";
}

/**
 * The first route into the local cluster's networks. The default route and wider routes through a router do not conflict:
 * the cluster only takes its own addresses out of them.
 */
export function conflictingRoute(routes: readonly Route[]): Route | undefined {
  return routes.find(({ dst, gateway }) => {
    const led = dst.includes("/") ? dst : `${dst}/32`;
    const isOverlapping = (ours: string) => holds(ours, led) || (holds(led, ours) && gateway === undefined);
    return dst !== "default" && [addresses.bridge.network, addresses.serviceNetwork].some(isOverlapping);
  });
}
