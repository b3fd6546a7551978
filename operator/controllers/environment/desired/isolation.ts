import type { Peer } from "../../../../config/isolation.schema.ts";
import type { Settings } from "../../../../config/settings.ts";
import { byNat64, holds, METADATA_RANGES } from "../../../../crds/addresses.ts";
import { hardLimits, type Quota } from "../../../../crds/config-set.ts";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { ENVIRONMENT_UID_LABEL } from "../../../../crds/group.ts";
import { oncePer } from "../../../../crds/once-per.ts";
import { canonicalQuantity } from "../../../../crds/quantity.ts";
import { limitRangeKind, networkPolicyKind, resourceQuotaKind, serviceAccountKind } from "../../../kit/client/kinds.ts";
import type { DesiredObject } from "../../../ports/cluster.ts";
import { inNamespace } from "./namespace.ts";

type IsolationSettings = Settings["isolation"];
/** https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#local-ephemeral-storage */
const DISK = "ephemeral-storage";

export const ENVIRONMENT_QUOTA = "environment";

/** Quota of the environment: the values of the settings, overridden by those of its config set. */
export function quotaObject(
  environment: EphemeralEnvironment,
  isolation: IsolationSettings,
  chosen: Quota = NOT_CHOSEN,
): DesiredObject {
  return inNamespace(environment, resourceQuotaKind, ENVIRONMENT_QUOTA, { spec: quotaSpec(isolation)(chosen) });
}

// Thousands of environments have equal specs, and every reconcile compares them: equal ones are one object.
const NOT_CHOSEN: Quota = {};
const quotaSpec = oncePer(({ quota, objects, ephemeralStorage }: IsolationSettings) => {
  const disk = { [`requests.${DISK}`]: ephemeralStorage.quota, [`limits.${DISK}`]: ephemeralStorage.quota };
  return oncePer((chosen: Quota) => ({ hard: canonical({ ...disk, ...objects, ...quota, ...hardLimits(chosen) }) }));
});

/**
 * Forbids pods with a priority, because a higher one would evict others' pods. Pods without a PriorityClass, or with an
 * allowed one, are outside its scope.
 * https://kubernetes.io/docs/concepts/policy/resource-quotas/#resource-quota-per-priorityclass
 */
export function priorityQuotaObject(environment: EphemeralEnvironment, isolation: IsolationSettings): DesiredObject {
  return inNamespace(environment, resourceQuotaKind, "priority-classes", { spec: priorityQuotaSpec(isolation) });
}

const priorityQuotaSpec = oncePer(({ priorityClasses }: IsolationSettings) => {
  const scopeName = "PriorityClass";
  // NotIn alone would also match pods without a class.
  const others = priorityClasses.length === 0 ? [] : [{ scopeName, operator: "NotIn", values: [...priorityClasses] }];
  return { hard: { pods: "0" }, scopeSelector: { matchExpressions: [{ scopeName, operator: "Exists" }, ...others] } };
});

/**
 * Defaults for a container without requests or limits; the quota would refuse its pod otherwise.
 *
 * Written as stored, or it would always drift: the API server adds a request for every limit without one and drops
 * empty fields.
 */
export function limitRangeObject(environment: EphemeralEnvironment, isolation: IsolationSettings): DesiredObject {
  return inNamespace(environment, limitRangeKind, "environment", { spec: limitRangeSpec(isolation) });
}

const limitRangeSpec = oncePer(({ defaultLimit, defaultRequest, ephemeralStorage }: IsolationSettings) => {
  const limit = canonical({ [DISK]: ephemeralStorage.defaultLimit, ...defaultLimit });
  const request = { ...limit, ...canonical({ [DISK]: ephemeralStorage.defaultRequest, ...defaultRequest }) };
  return { limits: [{ type: "Container", default: limit, defaultRequest: request }] };
});

type Quantities = Readonly<Record<string, string>>;

function canonical(quantities: Quantities): Quantities {
  return Object.fromEntries(Object.entries(quantities).map(([resource, text]) => [resource, canonicalQuantity(text)]));
}

/**
 * Kubernetes' ServiceAccount for pods that name none: they get no token of the API server.
 * https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/#opt-out-of-api-credential-automounting
 */
export function defaultAccountObject(environment: EphemeralEnvironment): DesiredObject {
  return inNamespace(environment, serviceAccountKind, "default", { automountServiceAccountToken: false });
}

/** Denies all traffic that no other policy allows. */
export function defaultDenyObject(environment: EphemeralEnvironment): DesiredObject {
  return inNamespace(environment, networkPolicyKind, "default-deny", { spec: DENY_ALL });
}

const DENY_ALL = { podSelector: {}, policyTypes: ["Ingress", "Egress"] };

/**
 * Allows traffic between the environment's pods, from the ingress controller, to DNS and to the settings' peers; never
 * to or from another environment.
 */
export function allowedTrafficObject(environment: EphemeralEnvironment, settings: Settings): DesiredObject {
  return inNamespace(environment, networkPolicyKind, "allowed-traffic", { spec: allowedTrafficSpec(settings) });
}

const allowedTrafficSpec = oncePer((settings: Settings) => {
  const { ingressFrom, dns, egressTo } = settings.isolation;
  const platform = [settings.namespace, settings.secretsNamespace, settings.deployer.namespace];
  const itself = { podSelector: {} };
  const dnsPorts = ["UDP", "TCP"].map((protocol) => ({ protocol, port: 53 }));
  return {
    podSelector: {},
    policyTypes: ["Ingress", "Egress"],
    ingress: [{ from: [itself, ...ingressFrom.map((peer) => outsideEnvironments(peer))] }],
    egress: [
      { to: [itself, ...egressTo.map((peer) => reachable(peer, platform))] },
      ...(dns.length > 0 ? [{ to: dns.map((peer) => outsideEnvironments(peer)), ports: dnsPorts }] : []),
    ],
  };
});

const PRIVATE_IPV4 = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"];
/** Ranges of nodes, the API server and pods (RFC 1918, RFC 6598, RFC 4193), also by NAT64 (RFC 6052, RFC 8215). */
const PRIVATE = [...PRIVATE_IPV4, ...PRIVATE_IPV4.map(byNat64), "64:ff9b:1::/48", "fc00::/7"];

/**
 * An allowed peer without its forbidden parts: an address block excludes metadata addresses and private ranges, unless
 * inside one ("0.0.0.0/0" means the internet); namespaces exclude other environments' and the platform's.
 */
function reachable(peer: Peer, platformNamespaces: readonly string[]): Peer {
  const { ipBlock } = peer;
  if (ipBlock === undefined) return outsideEnvironments(peer, platformNamespaces);
  const closed = [...METADATA_RANGES, ...PRIVATE].filter((range) => isBeyond(ipBlock.cidr, range));
  const except = [...new Set([...(ipBlock.except ?? []), ...closed])];
  return { ipBlock: { cidr: ipBlock.cidr, ...(except.length === 0 ? {} : { except }) } };
}

/** A peer whose namespaces, if any, exclude environments' and the named ones. */
function outsideEnvironments(peer: Peer, namespaces: readonly string[] = []): Peer {
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
