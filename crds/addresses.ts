import { BlockList, isIPv6 } from "node:net";

/**
 * Where machines are told their identity and their credentials: link-local (also by NAT64), and what clouds use beside
 * it. No pod of an environment may ever reach one.
 */
export const METADATA_RANGES: readonly string[] = [
  ...["169.254.0.0/16", "100.100.100.200/32", "168.63.129.16/32"],
  ...["fe80::/10", "64:ff9b::a9fe:0/112", "fd00:ec2::254/128"],
];

/** Whether a block of addresses (CIDR) holds the whole of another one, or is that very block. */
export function holds(block: string, other: string): boolean {
  const [network, prefix] = split(block);
  const [first, otherPrefix] = split(other);
  if (isIPv6(network) !== isIPv6(first) || prefix > otherPrefix) return false;
  const family = isIPv6(network) ? "ipv6" : "ipv4";
  const addresses = new BlockList();
  addresses.addSubnet(network, prefix, family);
  return addresses.check(first, family);
}

function split(cidr: string): readonly [address: string, prefix: number] {
  const [address = "", prefix = ""] = cidr.split("/");
  return [address, Number(prefix)];
}
