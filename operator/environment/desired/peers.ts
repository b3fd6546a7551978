import { BlockList, isIPv6 } from "node:net";
import type { Peer } from "../../../config/settings.schema.ts";
import { ENVIRONMENT_UID_LABEL } from "../../../crds/group.ts";

/** Where machines are told their identity and their credentials: link-local (also by NAT64), and what clouds use beside it. */
const METADATA = [
  ...["169.254.0.0/16", "100.100.100.200/32", "168.63.129.16/32"],
  ...["fe80::/10", "64:ff9b::a9fe:0/112", "fd00:ec2::254/128"],
];
/** Where the nodes, the API server and all other pods are (RFC 1918, RFC 6598, RFC 4193). */
const PRIVATE = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"];

/**
 * A peer that pods may reach, without what they never may: of a block of addresses, the metadata addresses, and the private
 * ranges unless the block is in one itself ("0.0.0.0/0" means the internet); of namespaces, those of other environments
 * and of the platform.
 */
export function reachable(peer: Peer, platformNamespaces: readonly string[]): Peer {
  const { ipBlock } = peer;
  if (ipBlock === undefined) return outsideEnvironments(peer, platformNamespaces);
  const closed = [...METADATA, ...PRIVATE].filter((range) => isWithin(range, ipBlock.cidr));
  const except = [...new Set([...(ipBlock.except ?? []), ...closed])];
  return { ipBlock: { cidr: ipBlock.cidr, ...(except.length === 0 ? {} : { except }) } };
}

/** A peer whose namespaces, where it selects any, are neither an environment's nor one of these. */
export function outsideEnvironments(peer: Peer, namespaces: readonly string[] = []): Peer {
  const { namespaceSelector } = peer;
  if (namespaceSelector === undefined) return peer;
  const named = { key: "kubernetes.io/metadata.name", operator: "NotIn" as const, values: [...namespaces] };
  const matchExpressions = [
    ...(namespaceSelector.matchExpressions ?? []),
    { key: ENVIRONMENT_UID_LABEL, operator: "DoesNotExist" as const },
    ...(namespaces.length === 0 ? [] : [named]),
  ];
  return { ...peer, namespaceSelector: { ...namespaceSelector, matchExpressions } };
}

/** Whether the block holds the whole range and more: the API server takes nothing else as an exception. */
function isWithin(range: string, block: string): boolean {
  const [first, prefix] = split(range);
  const [network, blockPrefix] = split(block);
  if (isIPv6(first) !== isIPv6(network) || blockPrefix >= prefix) return false;
  const family = isIPv6(network) ? "ipv6" : "ipv4";
  const addresses = new BlockList();
  addresses.addSubnet(network, blockPrefix, family);
  return addresses.check(first, family);
}

function split(cidr: string): readonly [address: string, prefix: number] {
  const [address = "", prefix = ""] = cidr.split("/");
  return [address, Number(prefix)];
}
