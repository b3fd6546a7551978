import { BlockList, isIPv6 } from "node:net";

const METADATA_IPV4 = ["169.254.0.0/16", "100.100.100.200/32", "168.63.129.16/32"];

/**
 * Addresses of metadata services, which serve machine credentials: link-local, clouds' own, and both by NAT64. No pod
 * of an environment reaches them.
 */
export const METADATA_RANGES: readonly string[] = [
  ...METADATA_IPV4,
  ...METADATA_IPV4.map(byNat64),
  "fe80::/10",
  "fd00:ec2::254/128",
];

/** IPv4 addresses as a NAT64 translator maps them (RFC 6052): `64:ff9b::a00:0/104` for `10.0.0.0/8`. */
export function byNat64(range: string): string {
  const [network, prefix] = split(range);
  const [first = 0, second = 0, third = 0, fourth = 0] = network.split(".").map(Number);
  const groups = [first * 256 + second, third * 256 + fourth].map((group) => group.toString(16));
  return `64:ff9b::${groups.join(":")}/${96 + prefix}`;
}

const LOOPBACK_HOSTS: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** True when traffic can be neither read nor forged on its way to the address: https, or loopback. */
export function isSafeAddress({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || (protocol === "http:" && LOOPBACK_HOSTS.includes(hostname));
}

/** True when a block of addresses (CIDR) contains the other one or equals it. */
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
