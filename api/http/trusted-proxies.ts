import { BlockList, isIPv6 } from "node:net";
import type { Settings } from "../../config/settings.ts";

/** Of the settings, what says which proxies are in front. */
export type ProxySettings = Pick<Settings["api"], "trustedProxyHops" | "trustedProxies">;

/**
 * Whether what an address says in `X-Forwarded-For` is believed. `hop` is 0 for whoever holds the connection, 1 for whom
 * that one names, and so on; it is the form that Express asks in.
 * https://expressjs.com/en/guide/behind-proxies.html
 */
export type TrustedProxy = (address: string | undefined, hop: number) => boolean;

/** So many hops, and of the addresses that the settings name, where they name any. */
export function trustedProxy({ trustedProxyHops, trustedProxies }: ProxySettings): TrustedProxy {
  const proxies = blockList(trustedProxies);
  const isProxy = (address = "") => trustedProxies.length === 0 || holds(proxies, address);
  return (address, hop) => hop < trustedProxyHops && isProxy(address);
}

function blockList(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [network = "", prefix = ""] = cidr.split("/");
    list.addSubnet(network, Number(prefix), isIPv6(network) ? "ipv6" : "ipv4");
  }
  return list;
}

/** An IPv4 address also where a socket of both families writes it as `::ffff:10.0.0.1`: Node compares the two. */
function holds(list: BlockList, address: string): boolean {
  return list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}
