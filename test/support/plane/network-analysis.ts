import { BlockList, isIPv6 } from "node:net";

/** https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#resources-that-support-set-based-requirements */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

export interface PolicyPeer {
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
  readonly namespaceSelector?: LabelSelector;
  readonly podSelector?: LabelSelector;
}

export interface PolicyPort {
  readonly protocol?: string;
  /** A number, or the name of a port of the target pod. */
  readonly port?: number | string;
  readonly endPort?: number;
}

/** The relevant parts of a NetworkPolicy. */
export interface Policy {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: {
    readonly podSelector: LabelSelector;
    readonly policyTypes?: readonly string[];
    readonly ingress?: readonly { readonly from?: readonly PolicyPeer[]; readonly ports?: readonly PolicyPort[] }[];
    readonly egress?: readonly { readonly to?: readonly PolicyPeer[]; readonly ports?: readonly PolicyPort[] }[];
  };
}

/** A place in the network: a pod of a namespace, or (without one) an address of a node or outside the cluster. */
export interface Place {
  readonly address: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly ports?: Readonly<Record<string, number>>;
}

export interface Network {
  readonly policies: readonly Policy[];
  /** Labels of namespaces, by name. */
  readonly namespaces: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export interface Way {
  readonly from: Place;
  readonly to: Place;
  readonly port: number;
  /** Default: `TCP`. */
  readonly protocol?: string;
}

/**
 * True when NetworkPolicies allow a connection by Kubernetes' rules: an unselected pod is open; a selected one is reached
 * (or reaches) only by what one of its policies allows; both ends must agree.
 *
 * Address blocks cover pods, too, as with most network plugins: the more open result counts.
 * https://kubernetes.io/docs/concepts/services-networking/network-policies/
 */
export function mayReach(network: Network, way: Way): boolean {
  return isLetThrough(network, way, "Egress") && isLetThrough(network, way, "Ingress");
}

type Direction = "Egress" | "Ingress";

function isLetThrough(network: Network, way: Way, direction: Direction): boolean {
  const [subject, other] = direction === "Egress" ? [way.from, way.to] : [way.to, way.from];
  const deciding = network.policies.filter((policy) => selects(policy, subject) && typesOf(policy).includes(direction));
  if (deciding.length === 0) return true;
  return deciding.some((policy) =>
    rulesOf(policy, direction).some(
      ({ peers = [], ports = [] }) =>
        (ports.length === 0 || ports.some((port) => isPort(port, way))) &&
        (peers.length === 0 || peers.some((peer) => isPeer(network, policy, peer, other))),
    ),
  );
}

function selects({ metadata, spec }: Policy, { namespace, labels }: Place): boolean {
  return namespace !== undefined && namespace === metadata.namespace && matches(spec.podSelector, labels);
}

/** Default types of a policy: ingress, and egress when it has egress rules. */
function typesOf({ spec }: Policy): readonly string[] {
  return spec.policyTypes ?? ["Ingress", ...(spec.egress === undefined ? [] : ["Egress"])];
}

function rulesOf({ spec }: Policy, direction: Direction) {
  return direction === "Egress"
    ? (spec.egress ?? []).map(({ to, ports }) => ({ peers: to, ports }))
    : (spec.ingress ?? []).map(({ from, ports }) => ({ peers: from, ports }));
}

function isPort({ protocol = "TCP", port, endPort }: PolicyPort, way: Way): boolean {
  if (protocol !== (way.protocol ?? "TCP")) return false;
  const first = typeof port === "string" ? way.to.ports?.[port] : port;
  if (port === undefined) return true;
  return first !== undefined && way.port >= first && way.port <= (endPort ?? first);
}

function isPeer(
  { namespaces }: Network,
  policy: Policy,
  peer: PolicyPeer,
  { address, namespace, labels }: Place,
): boolean {
  const { ipBlock, namespaceSelector, podSelector } = peer;
  if (ipBlock !== undefined) {
    return isWithin(address, ipBlock.cidr) && !(ipBlock.except ?? []).some((cidr) => isWithin(address, cidr));
  }
  if (namespace === undefined) return false;
  const isThere =
    namespaceSelector === undefined
      ? namespace === policy.metadata.namespace
      : matches(namespaceSelector, namespaces[namespace]);
  return isThere && matches(podSelector ?? {}, labels);
}

function matches(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Readonly<Record<string, string>> = {},
) {
  const fits: Readonly<Record<string, (value: string | undefined, values: readonly string[]) => boolean>> = {
    In: (value, values) => value !== undefined && values.includes(value),
    NotIn: (value, values) => value === undefined || !values.includes(value),
    Exists: (value) => value !== undefined,
    DoesNotExist: (value) => value === undefined,
  };
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => fits[operator]?.(labels[key], values) ?? false)
  );
}

function isWithin(address: string, cidr: string): boolean {
  const [network = "", prefix = ""] = cidr.split("/");
  if (isIPv6(address) !== isIPv6(network)) return false;
  const block = new BlockList();
  block.addSubnet(network, Number(prefix), isIPv6(network) ? "ipv6" : "ipv4");
  return block.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}
