import { beforeAll, describe, expect, test } from "@jest/globals";
import { helmProgram, renderChart } from "../../../../deploy/local/kubernetes/helm.ts";
import { mayReach, type Place, type Policy, type PolicyPeer } from "../../../support/plane/network-analysis.ts";

const settings = {
  baseDomain: "env.example.test",
  defaultChart: { repoUrl: "https://git.example.test/chart.git", path: ".", revision: "main" },
};
const namespace = "ephemeral-system";
const image = { repository: "registry.example.test/platform" };
const labelsOf = (name: string) => ({ "kubernetes.io/metadata.name": name });
const names = [namespace, "ingress", "edge", "monitoring", "env-shop", "default"];
const namespaces = Object.fromEntries(names.map((name) => [name, labelsOf(name)]));
const labels = { "app.kubernetes.io/name": "ephemeral-environments", "app.kubernetes.io/instance": "platform" };
const pod: Place = { address: "10.8.0.1", namespace, labels, ports: { api: 8080, probes: 9090 } };
const outside: Place = { address: "93.184.216.34" };
const from = (name: string): Place => ({ address: "10.8.0.2", namespace: name, labels: {} });
const peer = (name: string): PolicyPeer => ({ namespaceSelector: { matchLabels: labelsOf(name) } });

async function policiesOf(values: object = {}): Promise<Policy[]> {
  const given = { settings, image, ...values };
  const objects = await renderChart({ chart: "platform", release: "platform", namespace, values: given });
  return objects.filter(({ kind }) => kind === "NetworkPolicy") as unknown as Policy[];
}

async function reached(port: number, values?: object, to = pod): Promise<string[]> {
  const policies = await policiesOf(values);
  const isLetIn = (place: Place) => mayReach({ policies, namespaces }, { from: place, to, port });
  return [...names.filter((name) => isLetIn(from(name))), ...(isLetIn(outside) ? ["outside"] : [])];
}

describe("abuse case 98: the operator's pods are reached", () => {
  beforeAll(() => helmProgram(), 30 * 60_000);

  test.each([
    { name: "by the ingress controller alone", values: {}, expected: ["ingress"] },
    {
      name: "by the ingress controller of environments, where the settings name another",
      values: { settings: { ...settings, isolation: { ingressFrom: [peer("edge")] } } },
      expected: ["edge"],
    },
    {
      name: "by no peer, where the settings say so",
      values: { settings: { ...settings, isolation: { ingressFrom: [] } } },
      expected: [],
    },
    {
      name: "by a proxy of the REST interface's own",
      values: { networkPolicy: { apiFrom: [peer("edge")] } },
      expected: ["edge"],
    },
    {
      name: "by everybody, where the proxies are known by their addresses",
      values: {
        networkPolicy: { enabled: false },
        settings: { ...settings, api: { trustedProxies: ["10.0.0.0/28"] } },
      },
      expected: [...names, "outside"],
    },
    {
      name: "by all, where no caller is believed another address",
      values: { networkPolicy: { enabled: false }, settings: { ...settings, api: { trustedProxyHops: 0 } } },
      expected: [...names, "outside"],
    },
  ])("at the REST port $name", async ({ values, expected }) => {
    expect(await reached(8080, values)).toEqual(expected);
  });

  test("at the port of the probes by monitoring alone", async () => {
    expect(await reached(9090)).toEqual(["monitoring"]);
  });

  test("at the port of the probes by those whom the values name", async () => {
    expect(await reached(9090, { networkPolicy: { probesFrom: [peer("default")] } })).toEqual(["default"]);
  });

  test.each([
    { name: "everything", values: {}, expected: true },
    {
      name: "what the values say",
      values: { networkPolicy: { egress: [{ to: [peer("default")] }] } },
      expected: false,
    },
  ])("and reach $name", async ({ values, expected }) => {
    const policies = await policiesOf(values);
    expect(mayReach({ policies, namespaces }, { from: pod, to: outside, port: 443 })).toBe(expected);
  });
});

describe("the gate's pods are reached", () => {
  const ofGate = { ...labels, "app.kubernetes.io/name": "ephemeral-environments-gate" };
  const gatePod: Place = { ...pod, labels: ofGate, ports: { gate: 8081, probes: 9091 } };
  const gate = { enabled: true };

  test.each([
    { name: "by the ingress controller alone", values: {}, expected: ["ingress"] },
    {
      name: "by the ingress controller of environments, whatever proxy the REST interface has",
      values: {
        settings: { ...settings, isolation: { ingressFrom: [peer("edge")] } },
        networkPolicy: { apiFrom: [peer("default")] },
      },
      expected: ["edge"],
    },
  ])("at its port $name", async ({ values, expected }) => {
    expect(await reached(8081, { gate, ...values }, gatePod)).toEqual(expected);
  });

  test("at the port of the probes by monitoring alone", async () => {
    expect(await reached(9091, { gate }, gatePod)).toEqual(["monitoring"]);
  });
});
