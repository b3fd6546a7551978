import type { Settings } from "../../../config/settings.ts";
import type { Quota } from "../../../crds/config-set.ts";
import type { EphemeralEnvironment } from "../../../crds/ephemeral-environment.ts";
import { namespaceName } from "../../../crds/names.ts";
import { canonicalQuantity } from "../../../crds/quantity.ts";
import type { DesiredObject } from "../../ports/cluster.ts";
import { outsideEnvironments, reachable } from "./peers.ts";

type IsolationSettings = Settings["isolation"];
const networkPolicy = { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy" } as const;

/** What the whole environment may use together: as the settings say, and as its config set does where it says something. */
export function quotaObject(
  environment: EphemeralEnvironment,
  { quota }: IsolationSettings,
  chosen: Quota = {},
): DesiredObject {
  return {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "environment", namespace: namespaceName(environment.metadata.name) },
    spec: unlessEmpty("hard", canonical({ ...quota, ...hardLimits(chosen) })),
  };
}

/** `memory` bounds what pods may come to use, and with it what they may reserve. */
function hardLimits({ cpu, memory, storage, pods }: Quota): Quantities {
  return {
    ...(cpu === undefined ? {} : { "requests.cpu": cpu }),
    ...(memory === undefined ? {} : { "requests.memory": memory, "limits.memory": memory }),
    ...(storage === undefined ? {} : { "requests.storage": storage }),
    ...(pods === undefined ? {} : { pods: String(pods) }),
  };
}

/**
 * What a container gets that asks for nothing: without it, the quota would refuse its pod.
 *
 * The API server would add a request for every limit that has none, and leave out what is empty; the object says it
 * as it is stored, or it would seem to have drifted for ever.
 */
export function limitRangeObject(environment: EphemeralEnvironment, isolation: IsolationSettings): DesiredObject {
  const limit = canonical(isolation.defaultLimit);
  const request = { ...limit, ...canonical(isolation.defaultRequest) };
  return {
    apiVersion: "v1",
    kind: "LimitRange",
    metadata: { name: "environment", namespace: namespaceName(environment.metadata.name) },
    spec: {
      limits: [{ type: "Container", ...unlessEmpty("default", limit), ...unlessEmpty("defaultRequest", request) }],
    },
  };
}

type Quantities = Readonly<Record<string, string>>;

function canonical(quantities: Quantities): Quantities {
  return Object.fromEntries(Object.entries(quantities).map(([resource, text]) => [resource, canonicalQuantity(text)]));
}

function unlessEmpty(field: string, quantities: Quantities): object {
  return Object.keys(quantities).length === 0 ? {} : { [field]: quantities };
}

/** Nothing goes in or out unless another policy says so. */
export function defaultDenyObject({ metadata }: EphemeralEnvironment): DesiredObject {
  return {
    ...networkPolicy,
    metadata: { name: "default-deny", namespace: namespaceName(metadata.name) },
    spec: { podSelector: {}, policyTypes: ["Ingress", "Egress"] },
  };
}

/**
 * The environment's own pods reach each other, the ingress controller reaches them, they reach DNS and what the settings
 * allow. Another environment is none of these, however wide the settings are.
 */
export function allowedTrafficObject({ metadata }: EphemeralEnvironment, settings: Settings): DesiredObject {
  const { ingressFrom, dns, egressTo } = settings.isolation;
  const platform = [settings.namespace, settings.secretsNamespace, settings.deployer.namespace];
  const itself = { podSelector: {} };
  const dnsPorts = ["UDP", "TCP"].map((protocol) => ({ protocol, port: 53 }));
  return {
    ...networkPolicy,
    metadata: { name: "allowed-traffic", namespace: namespaceName(metadata.name) },
    spec: {
      podSelector: {},
      policyTypes: ["Ingress", "Egress"],
      ingress: [{ from: [itself, ...ingressFrom.map((peer) => outsideEnvironments(peer))] }],
      egress: [
        { to: [itself, ...egressTo.map((peer) => reachable(peer, platform))] },
        ...(dns.length > 0 ? [{ to: dns.map((peer) => outsideEnvironments(peer)), ports: dnsPorts }] : []),
      ],
    },
  };
}
