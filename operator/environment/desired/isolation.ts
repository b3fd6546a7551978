import type { Settings } from "../../../config/settings.ts";
import type { EphemeralEnvironment } from "../../../crds/ephemeral-environment.ts";
import { namespaceName } from "../../../crds/names.ts";
import type { DesiredObject } from "../../ports/cluster.ts";

type IsolationSettings = Settings["isolation"];
const networkPolicy = { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy" } as const;

/** What the whole environment may use together. */
export function quotaObject(environment: EphemeralEnvironment, { quota }: IsolationSettings): DesiredObject {
  return {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "environment", namespace: namespaceName(environment.metadata.name) },
    spec: { hard: quota },
  };
}

/** What a container gets that asks for nothing: without it, the quota would refuse its pod. */
export function limitRangeObject(environment: EphemeralEnvironment, isolation: IsolationSettings): DesiredObject {
  return {
    apiVersion: "v1",
    kind: "LimitRange",
    metadata: { name: "environment", namespace: namespaceName(environment.metadata.name) },
    spec: {
      limits: [{ type: "Container", default: isolation.defaultLimit, defaultRequest: isolation.defaultRequest }],
    },
  };
}

/** Nothing goes in or out unless another policy says so. */
export function defaultDenyObject({ metadata }: EphemeralEnvironment): DesiredObject {
  return {
    ...networkPolicy,
    metadata: { name: "default-deny", namespace: namespaceName(metadata.name) },
    spec: { podSelector: {}, policyTypes: ["Ingress", "Egress"] },
  };
}

/** The environment's own pods reach each other, the ingress controller reaches them, they reach DNS and what the settings allow. */
export function allowedTrafficObject({ metadata }: EphemeralEnvironment, isolation: IsolationSettings): DesiredObject {
  const itself = { podSelector: {} };
  const dnsPorts = ["UDP", "TCP"].map((protocol) => ({ protocol, port: 53 }));
  return {
    ...networkPolicy,
    metadata: { name: "allowed-traffic", namespace: namespaceName(metadata.name) },
    spec: {
      podSelector: {},
      policyTypes: ["Ingress", "Egress"],
      ingress: [{ from: [itself, ...isolation.ingressFrom] }],
      egress: [
        { to: [itself, ...isolation.egressTo] },
        ...(isolation.dns.length > 0 ? [{ to: isolation.dns, ports: dnsPorts }] : []),
      ],
    },
  };
}
