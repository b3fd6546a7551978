import { describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../../../../config/settings.ts";
import { METADATA_RANGES } from "../../../../../../crds/addresses.ts";
import { ENVIRONMENT_UID_LABEL } from "../../../../../../crds/group.ts";
import {
  copiesPolicyObject,
  copyPolicyObject,
} from "../../../../../../operator/controllers/environment/desired/database-copy.ts";
import {
  allowedTrafficObject,
  defaultDenyObject,
} from "../../../../../../operator/controllers/environment/desired/isolation.ts";
import { environmentFixture } from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { testSettings } from "../../../../../support/fixtures/test-settings.ts";
import { mayReach, type Place, type Policy } from "../../../../../support/plane/network-analysis.ts";

const environment = environmentFixture();
const isolation = (settings: object) => settingsFrom({ ...testSettings, isolation: settings }).isolation;

describe("abuse case 81: a pod reaches its own namespace, DNS and the allowed egress, and nothing else", () => {
  const environmentLabel = (uid: string) => ({ [ENVIRONMENT_UID_LABEL]: uid });
  const named = (name: string, more: Readonly<Record<string, string>> = {}) => ({
    [name]: { "kubernetes.io/metadata.name": name, ...more },
  });
  const namespaces = {
    ...named("env-shop", environmentLabel("one")),
    ...named("env-billing", environmentLabel("two")),
    ...named("ephemeral-system"),
    ...named("ephemeral-secrets"),
    ...named("argocd"),
    ...named("kube-system"),
    ...named("ingress"),
    ...named("shared", { team: "data" }),
  };
  const labels = { app: "anything" };
  const pod: Place = { address: "10.8.0.1", namespace: "env-shop", labels };
  const neighbour: Place = { address: "10.8.0.2", namespace: "env-shop", labels };
  const billing: Place = { address: "10.8.0.3", namespace: "env-billing", labels: { ...labels, app: "ingress" } };
  const dns: Place = { address: "10.8.0.4", namespace: "kube-system", labels };
  const ingress: Place = { address: "10.8.0.5", namespace: "ingress", labels: { app: "ingress" } };
  const shared: Place = { address: "10.8.0.6", namespace: "shared", labels };
  const internet: Place = { address: "93.184.216.34" };
  const office: Place = { address: "10.1.2.3" };

  interface Reach {
    readonly what: string;
    readonly from?: Place;
    readonly to: Place;
    readonly port?: number;
    readonly protocol?: string;
  }
  /** Closed under any settings. */
  const never: readonly Reach[] = [
    ...METADATA_RANGES.map((range) => ({ what: range, to: { address: range.split("/")[0] ?? "" }, port: 80 })),
    { what: "the metadata address", to: { address: "169.254.169.254" }, port: 80 },
    { what: "the metadata address by NAT64", to: { address: "64:ff9b::a9fe:a9fe" }, port: 80 },
    { what: "Alibaba's metadata address", to: { address: "100.100.100.200" }, port: 80 },
    { what: "Azure's wire server", to: { address: "168.63.129.16" }, port: 80 },
    { what: "the metadata address over IPv6", to: { address: "fd00:ec2::254" }, port: 80 },
    { what: "a link-local address over IPv6", to: { address: "fe80::1" } },
    { what: "Alibaba's metadata address by NAT64", to: { address: "64:ff9b::6464:64c8" }, port: 80 },
    { what: "Azure's wire server by NAT64", to: { address: "64:ff9b::a83f:8110" }, port: 80 },
    { what: "the API server by its service and NAT64", to: { address: "64:ff9b::a60:1" } },
    { what: "the API server on its node by NAT64", to: { address: "64:ff9b::ac10:505" }, port: 6443 },
    { what: "a kubelet by NAT64", to: { address: "64:ff9b::c0a8:707" }, port: 10250 },
    { what: "a node of a carrier's range by NAT64", to: { address: "64:ff9b::6440:101" } },
    { what: "a kubelet by a NAT64 of one's own", to: { address: "64:ff9b:1::c0a8:707" }, port: 10250 },
    { what: "the API server by its service", to: { address: "10.96.0.1" } },
    { what: "the API server on its node", to: { address: "172.16.5.5" }, port: 6443 },
    { what: "a kubelet", to: { address: "192.168.7.7" }, port: 10250 },
    { what: "another environment", to: billing },
    { what: "another environment's DNS port", to: billing, port: 53, protocol: "UDP" },
    { what: "the pods, from another environment", from: billing, to: pod },
    ...["ephemeral-system", "ephemeral-secrets", "argocd"].map((namespace) => ({
      what: namespace,
      to: { address: "10.8.0.9", namespace, labels },
    })),
    { what: "a port of DNS that is none", to: { ...dns, labels: {} }, port: 9153 },
  ];
  const always: readonly Reach[] = [
    { what: "a pod beside it", to: neighbour, port: 5432 },
    { what: "DNS", to: dns, port: 53, protocol: "UDP" },
    { what: "DNS over TCP", to: dns, port: 53 },
    { what: "the pods, from the ingress", from: ingress, to: pod, port: 8080 },
  ];
  const more: readonly Reach[] = [
    { what: "the internet", to: internet },
    { what: "the internet over IPv6", to: { address: "2606:2800:220:1::1" } },
    { what: "the internet by NAT64", to: { address: "64:ff9b::5db8:d822" } },
    { what: "a private network", to: office },
    { what: "a carrier's range", to: { address: "100.64.1.1" } },
    { what: "a namespace of others", to: shared },
  ];
  const all = { ipBlock: { cidr: "0.0.0.0/0" } };

  test.each([
    { name: "by default", isolation: {}, open: [] },
    { name: "with the internet", isolation: { egressTo: [all] }, open: ["the internet"] },
    {
      name: "with the internet, halved to hide it",
      isolation: { egressTo: [{ ipBlock: { cidr: "0.0.0.0/1" } }, { ipBlock: { cidr: "128.0.0.0/1" } }] },
      open: ["the internet"],
    },
    {
      name: "with a block around link-local",
      isolation: { egressTo: [{ ipBlock: { cidr: "169.254.0.0/15" } }] },
      open: [],
    },
    {
      name: "with the internet over IPv6",
      isolation: { egressTo: [{ ipBlock: { cidr: "::/0" } }] },
      open: ["the internet over IPv6", "the internet by NAT64"],
    },
    {
      name: "with a carrier's range",
      isolation: { egressTo: [{ ipBlock: { cidr: "100.64.0.0/10" } }] },
      open: ["a carrier's range"],
    },
    {
      name: "with a private network",
      isolation: { egressTo: [{ ipBlock: { cidr: "10.1.2.0/24" } }] },
      open: ["a private network"],
    },
    {
      name: "with the internet but for an exception",
      isolation: { egressTo: [{ ipBlock: { cidr: "0.0.0.0/0", except: ["93.184.0.0/16"] } }] },
      open: [],
    },
    {
      name: "with a namespace",
      isolation: { egressTo: [{ namespaceSelector: { matchLabels: { team: "data" } } }] },
      open: ["a namespace of others"],
    },
    {
      name: "with an ingress that is found by its pods",
      isolation: { ingressFrom: [{ namespaceSelector: {}, podSelector: { matchLabels: { app: "ingress" } } }] },
      open: [],
    },
    { name: "with DNS in any namespace", isolation: { dns: [{ namespaceSelector: {} }] }, open: [] },
  ])("$name", ({ isolation: given, open }) => {
    const settings = settingsFrom({ ...testSettings, isolation: given });
    const policiesOf = (name: string) => {
      const owner = environmentFixture({ metadata: { name } });
      return [defaultDenyObject(owner), allowedTrafficObject(owner, settings)] as unknown as Policy[];
    };
    const network = { namespaces, policies: [...policiesOf("shop"), ...policiesOf("billing")] };
    const reached = (ways: readonly Reach[]) =>
      ways
        .filter((way) => mayReach(network, { ...way, from: way.from ?? pod, port: way.port ?? 443 }))
        .map(({ what }) => what);
    expect(reached(never)).toEqual([]);
    expect(reached(always)).toEqual(always.map(({ what }) => what));
    expect(reached(more)).toEqual(open);
  });

  test("all namespaces are all but those of other environments and of the platform", () => {
    const settings = settingsFrom({ ...testSettings, isolation: { egressTo: [{ namespaceSelector: {} }] } });
    const policies = [allowedTrafficObject(environment, settings)] as unknown as Policy[];
    const reach = (to: Place) => mayReach({ namespaces, policies }, { from: pod, to, port: 443 });
    expect([reach(shared), reach(billing), reach({ ...pod, namespace: "argocd" })]).toEqual([true, false, false]);
  });

  test.each([
    ["169.254.169.254/32", "/isolation/egressTo/0/ipBlock/cidr"],
    ["169.254.0.0/16", "/isolation/egressTo/0/ipBlock/cidr"],
    ["FE80::/64", "/isolation/egressTo/0/ipBlock/cidr"],
    ["fd00:ec2::254/128", "/isolation/egressTo/0/ipBlock/cidr"],
    ["fd00:ec2:0::254/128", "/isolation/egressTo/0/ipBlock/cidr"],
    ["100.100.100.200/32", "/isolation/egressTo/0/ipBlock/cidr"],
    ["168.63.129.16/32", "/isolation/egressTo/0/ipBlock/cidr"],
    ["64:ff9b::a9fe:a9fe/128", "/isolation/egressTo/0/ipBlock/cidr"],
    ["64:ff9b::169.254.0.0/112", "/isolation/egressTo/0/ipBlock/cidr"],
    ["300.0.0.0/8", "/isolation/egressTo/0/ipBlock/cidr"],
    ["10.0.0.0/33", "/isolation/egressTo/0/ipBlock/cidr"],
    ["10.0.0.0", "/isolation/egressTo/0/ipBlock/cidr"],
  ])("%s is refused when the settings are read", (cidr, place) => {
    expect(() => isolation({ egressTo: [{ ipBlock: { cidr } }] })).toThrow(place);
  });

  test("but for a copy: the Job alone reaches the source's database alone, at its port", () => {
    const settings = settingsFrom(testSettings);
    const owner = (name: string, uid: string) => environmentFixture({ metadata: { name, uid } });
    const [copy, source] = [owner("shop", "one"), owner("billing", "two")];
    const objects = [copy, source].flatMap((one) => [defaultDenyObject(one), allowedTrafficObject(one, settings)]);
    const ways = [copyPolicyObject(copy, source), copiesPolicyObject(source, [copy])];
    const policies = [...objects, ...ways] as unknown as Policy[];
    const place = (namespace: string, name: string): Place => ({
      address: "10.8.0.7",
      namespace,
      labels: { "app.kubernetes.io/name": name },
    });
    const isOpen = (from: Place, to: Place, port = 5432) => mayReach({ namespaces, policies }, { from, to, port });
    const [job, database] = [place("env-shop", "database-seed"), place("env-billing", "database")];
    expect(isOpen(job, database)).toBe(true);
    expect(isOpen(job, database, 22)).toBe(false);
    expect(isOpen(job, place("env-billing", "backend"))).toBe(false);
    expect(isOpen(place("env-shop", "backend"), database)).toBe(false);
    expect(isOpen(place("shared", "database-seed"), database)).toBe(false);
    expect(isOpen(place("env-billing", "database-seed"), place("env-shop", "database"))).toBe(false);
    expect(isOpen(job, internet)).toBe(false);
  });
});
