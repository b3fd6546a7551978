import { BlockList, isIPv6 } from "node:net";
import type { Settings } from "../../config/settings.ts";

/** Settings of the proxies in front. */
export type ProxySettings = Pick<Settings["api"], "trustedProxyHops" | "trustedProxies">;

/**
 * True when the `X-Forwarded-For` of an address is trusted, in Express's form: `hop` is 0 for the connection's peer, 1
 * for the address that it forwards, and so on. https://expressjs.com/en/guide/behind-proxies.html
 */
export type TrustedProxy = (address: string | undefined, hop: number) => boolean;

/** Trusts the configured number of hops, and only configured addresses if there are any. */
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

/** True when the list holds the address; IPv4 may have a socket's form `::ffff:10.0.0.1`: Node compares the two. */
function holds(list: BlockList, address: string): boolean {
  return list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}
