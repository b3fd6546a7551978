import type { Peer } from "../../../../config/isolation.schema.ts";
import { byNat64, holds, METADATA_RANGES } from "../../../../crds/addresses.ts";
import { ENVIRONMENT_UID_LABEL } from "../../../../crds/group.ts";

const PRIVATE_IPV4 = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"];
/**
 * Ranges of nodes, the API server and other pods (RFC 1918, RFC 6598, RFC 4193), also by NAT64 (RFC 6052, RFC 8215).
 */
const PRIVATE = [...PRIVATE_IPV4, ...PRIVATE_IPV4.map(byNat64), "64:ff9b:1::/48", "fc00::/7"];

/**
 * An allowed peer without its forbidden parts: an address block excludes metadata addresses and private ranges, unless
 * inside one ("0.0.0.0/0" means the internet); namespaces exclude other environments' and the platform's.
 */
export function reachable(peer: Peer, platformNamespaces: readonly string[]): Peer {
  const { ipBlock } = peer;
  if (ipBlock === undefined) return outsideEnvironments(peer, platformNamespaces);
  const closed = [...METADATA_RANGES, ...PRIVATE].filter((range) => isBeyond(ipBlock.cidr, range));
  const except = [...new Set([...(ipBlock.except ?? []), ...closed])];
  return { ipBlock: { cidr: ipBlock.cidr, ...(except.length === 0 ? {} : { except }) } };
}

/** A peer whose namespaces, if any, exclude environments' and the named ones. */
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

/** True when the block contains the range and more; the API server accepts no other range in `except`. */
const isBeyond = (block: string, range: string) => holds(block, range) && !holds(range, block);
