import type { ApiClient } from "../kubernetes/api-client.ts";
import { addresses } from "../network/addresses.ts";
import { platformAccount } from "./chart.ts";

/** The chart's values of the gate, which runs on the host behind the local cluster's ingress. */
export const gateValues = { enabled: true, ingress: { enabled: true } } as const;

/** Leads the chart's Service of the gate to the gate's address: the bridge's, because a Service may not lead to loopback. */
export async function applyGateEndpoints(client: Pick<ApiClient, "apply">): Promise<void> {
  await client.apply({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name: "gate",
      namespace: platformAccount.namespace,
      labels: {
        "kubernetes.io/service-name": "gate",
        "endpointslice.kubernetes.io/managed-by": "local-cluster",
      },
    },
    addressType: "IPv4",
    ports: [{ name: "http", port: addresses.gatePort, protocol: "TCP" }],
    endpoints: [{ addresses: [addresses.bridge.address], conditions: { ready: true } }],
  });
}
