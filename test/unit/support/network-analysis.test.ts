import { describe, expect, test } from "@jest/globals";
import { mayReach, type Place, type Policy } from "../../support/plane/network-analysis.ts";

const namespaces = {
  default: {},
  mine: { project: "myproject" },
  other: { project: "other" },
  frontends: { namespace: "frontend" },
  "kube-system": { "kubernetes.io/metadata.name": "kube-system" },
};
const db: Place = { address: "10.0.0.1", namespace: "default", labels: { role: "db" }, ports: { sql: 6379 } };
const frontend: Place = { address: "10.0.0.2", namespace: "default", labels: { role: "frontend" } };
const batch: Place = { address: "10.0.0.3", namespace: "default", labels: { role: "batch" } };
const mine: Place = { address: "10.0.0.4", namespace: "mine", labels: { role: "client" } };
const others: Place = { address: "10.0.0.5", namespace: "other", labels: { role: "client" } };
const outside = (address: string): Place => ({ address });

const policy = (spec: Policy["spec"]): Policy => ({ metadata: { name: "tested", namespace: "default" }, spec });
/** The first example of https://kubernetes.io/docs/concepts/services-networking/network-policies/ */
const example = policy({
  podSelector: { matchLabels: { role: "db" } },
  policyTypes: ["Ingress", "Egress"],
  ingress: [
    {
      from: [
        { ipBlock: { cidr: "172.17.0.0/16", except: ["172.17.1.0/24"] } },
        { namespaceSelector: { matchLabels: { project: "myproject" } } },
        { podSelector: { matchLabels: { role: "frontend" } } },
      ],
      ports: [{ protocol: "TCP", port: 6379 }],
    },
  ],
  egress: [{ to: [{ ipBlock: { cidr: "10.1.0.0/24" } }], ports: [{ protocol: "TCP", port: 5978 }] }],
});
const all = { podSelector: {} };
const user = { namespaceSelector: { matchLabels: { project: "myproject" } } };
const client = { podSelector: { matchLabels: { role: "client" } } };
const range = policy({ ...all, policyTypes: ["Egress"], egress: [{ ports: [{ port: 32_000, endPort: 32_768 }] }] });
const frontendsOnly = policy({
  ...all,
  policyTypes: ["Egress"],
  egress: [
    { to: [{ namespaceSelector: { matchExpressions: [{ key: "namespace", operator: "In", values: ["frontend"] }] } }] },
  ],
});
const inFrontends: Place = { address: "10.0.0.6", namespace: "frontends" };

describe("what the documentation of Kubernetes says", () => {
  test.each([
    { name: "no policy: everybody reaches everybody", policies: [], from: others, to: db, port: 1, expected: true },
    {
      name: "a block of addresses",
      policies: [example],
      from: outside("172.17.0.9"),
      to: db,
      port: 6379,
      expected: true,
    },
    {
      name: "but not its exception",
      policies: [example],
      from: outside("172.17.1.9"),
      to: db,
      port: 6379,
      expected: false,
    },
    { name: "a namespace by its label", policies: [example], from: mine, to: db, port: 6379, expected: true },
    { name: "and no other", policies: [example], from: others, to: db, port: 6379, expected: false },
    { name: "pods of the own namespace", policies: [example], from: frontend, to: db, port: 6379, expected: true },
    { name: "and no others there", policies: [example], from: batch, to: db, port: 6379, expected: false },
    { name: "only at the port", policies: [example], from: frontend, to: db, port: 6380, expected: false },
    {
      name: "a pod that is not selected stays open",
      policies: [example],
      from: others,
      to: frontend,
      port: 1,
      expected: true,
    },
    { name: "out to the block", policies: [example], from: db, to: outside("10.1.0.7"), port: 5978, expected: true },
    {
      name: "out to nowhere else",
      policies: [example],
      from: db,
      to: outside("10.2.0.7"),
      port: 5978,
      expected: false,
    },
    {
      name: "deny all ingress",
      policies: [policy({ ...all, policyTypes: ["Ingress"] })],
      from: batch,
      to: db,
      port: 1,
      expected: false,
    },
    {
      name: "deny all ingress leaves egress",
      policies: [policy({ ...all, policyTypes: ["Ingress"] })],
      from: db,
      to: others,
      port: 1,
      expected: true,
    },
    {
      name: "deny all egress",
      policies: [policy({ ...all, policyTypes: ["Egress"] })],
      from: db,
      to: others,
      port: 1,
      expected: false,
    },
    {
      name: "allow all ingress",
      policies: [policy({ ...all, ingress: [{}] })],
      from: others,
      to: db,
      port: 1,
      expected: true,
    },
    {
      name: "without policyTypes: ingress alone",
      policies: [policy({ ...all, ingress: [] })],
      from: db,
      to: others,
      port: 1,
      expected: true,
    },
    {
      name: "policies add up",
      policies: [policy({ ...all, policyTypes: ["Ingress"] }), example],
      from: frontend,
      to: db,
      port: 6379,
      expected: true,
    },
    {
      name: "two selectors in one peer: both must hold",
      policies: [policy({ ...all, ingress: [{ from: [{ ...user, ...client }] }] })],
      from: batch,
      to: db,
      port: 1,
      expected: false,
    },
    {
      name: "two peers: either is enough",
      policies: [policy({ ...all, ingress: [{ from: [user, { podSelector: { matchLabels: { role: "batch" } } }] }] })],
      from: batch,
      to: db,
      port: 1,
      expected: true,
    },
    {
      name: "an empty namespaceSelector is all namespaces",
      policies: [policy({ ...all, ingress: [{ from: [{ namespaceSelector: {} }] }] })],
      from: others,
      to: db,
      port: 1,
      expected: true,
    },
    {
      name: "an empty podSelector is the own namespace",
      policies: [policy({ ...all, ingress: [{ from: [{ podSelector: {} }] }] })],
      from: others,
      to: db,
      port: 1,
      expected: false,
    },
    { name: "a range of ports", policies: [range], from: db, to: others, port: 32_500, expected: true },
    { name: "and not beside it", policies: [range], from: db, to: others, port: 32_769, expected: false },
    {
      name: "namespaces by an expression",
      policies: [frontendsOnly],
      from: db,
      to: inFrontends,
      port: 1,
      expected: true,
    },
    { name: "and not others", policies: [frontendsOnly], from: db, to: mine, port: 1, expected: false },
    {
      name: "a port by its name",
      policies: [policy({ ...all, ingress: [{ ports: [{ port: "sql" }] }] })],
      from: others,
      to: db,
      port: 6379,
      expected: true,
    },
    {
      name: "another protocol is another port",
      policies: [policy({ ...all, ingress: [{ ports: [{ protocol: "UDP", port: 53 }] }] })],
      from: others,
      to: db,
      port: 53,
      expected: false,
    },
  ])("$name", ({ policies, from, to, port, expected }) => {
    expect(mayReach({ policies, namespaces }, { from, to, port })).toBe(expected);
  });
});
