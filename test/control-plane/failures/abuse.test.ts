import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ENVIRONMENT_UID_LABEL } from "../../../crds/group.ts";
import { namespaceName } from "../../../crds/names.ts";
import { appProjectKind } from "../../../operator/adapters/argocd/kinds.ts";
import { namespaceKind, networkPolicyKind } from "../../../operator/kit/client/kinds.ts";
import { until } from "../../support/fixtures/until.ts";
import { liftNamespacePolicy } from "../../support/plane/chart/lifted-policy.ts";
import { mayReach, type Network, type Place, type Policy } from "../../support/plane/network-analysis.ts";
import { createWorld, type World } from "../../support/worlds/environment-world.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
  await world.startOperator();
  const all = await Promise.all([world.create("abused-shop"), world.create("abused-billing")]);
  await Promise.all(all.map(({ metadata }) => world.expectPhase(metadata.name, "ready")));
}, 90_000);
afterAll(() => world.stop(), 60_000);

const namespace = namespaceName("abused-shop");

describe("abuse case 81: what the operator made lets a pod reach", () => {
  const pod: Place = { address: "10.8.0.1", namespace, labels: { app: "shop" } };
  const elsewhere = (place: string): Place => ({ address: "10.8.0.9", namespace: place, labels: { app: "shop" } });

  /** The current policies and namespaces of the API server. */
  async function asItIs(): Promise<Network> {
    const [policies, namespaces] = await Promise.all([
      world.admin.list(networkPolicyKind),
      world.admin.list(namespaceKind),
    ]);
    return {
      policies: policies.items as unknown as Policy[],
      namespaces: {
        ...Object.fromEntries(namespaces.items.map(({ metadata }) => [metadata.name, metadata.labels ?? {}])),
        // The ingress controller's labels, which a control plane alone lacks.
        ingress: { "kubernetes.io/metadata.name": "ingress" },
      },
    };
  }

  test("its own namespace and DNS, and nothing else; and lets in its own and the ingress, and no others", async () => {
    const network = await asItIs();
    expect(network.policies.filter(({ metadata }) => metadata.namespace === namespace)).toHaveLength(2);
    const ways = [
      { what: "a pod beside it", to: elsewhere(namespace), port: 5432 },
      { what: "DNS", to: elsewhere("kube-system"), port: 53, protocol: "UDP" },
      { what: "the rest of the system", to: elsewhere("kube-system"), port: 443 },
      { what: "another environment", to: elsewhere(namespaceName("abused-billing")), port: 443 },
      { what: "the platform", to: elsewhere("ephemeral-system"), port: 8080 },
      { what: "the deployer", to: elsewhere("argocd"), port: 8080 },
      { what: "the API server by its service", to: { address: "10.96.0.1" }, port: 443 },
      { what: "the API server on its node", to: { address: "10.240.0.2" }, port: 6443 },
      { what: "the metadata address", to: { address: "169.254.169.254" }, port: 80 },
      { what: "the internet", to: { address: "93.184.216.34" }, port: 443 },
      { what: "it from the ingress", from: elsewhere("ingress"), to: pod, port: 8080 },
      { what: "it from another environment", from: elsewhere(namespaceName("abused-billing")), to: pod, port: 8080 },
      { what: "it from anywhere in the cluster", from: elsewhere("default"), to: pod, port: 8080 },
      { what: "it from outside", from: { address: "93.184.216.34" }, to: pod, port: 8080 },
    ];
    const open = ways.filter((way) => mayReach(network, { from: pod, ...way })).map(({ what }) => what);
    expect(open).toEqual(["a pod beside it", "DNS", "it from the ingress"]);
  });
});

describe("abuse case 83: what a chart can't make", () => {
  interface Project {
    readonly clusterResourceWhitelist?: readonly Kind[];
    readonly namespaceResourceWhitelist?: readonly Kind[];
    readonly namespaceResourceBlacklist?: readonly Kind[];
    readonly destinations: readonly { readonly namespace: string }[];
  }
  interface Kind {
    readonly group: string;
    readonly kind: string;
  }

  /**
   * Argo CD's rule: cluster-scoped kinds need the whitelist; without one, all namespaced kinds are permitted.
   * https://argo-cd.readthedocs.io/en/stable/user-guide/projects/
   */
  function admits(project: Project, group: string, kind: string, scope: "cluster" | "namespace"): boolean {
    const isListed = (list: readonly Kind[]) =>
      list.some((one) => ["*", group].includes(one.group) && ["*", kind].includes(one.kind));
    if (scope === "cluster") return isListed(project.clusterResourceWhitelist ?? []);
    const { namespaceResourceWhitelist: white, namespaceResourceBlacklist: black = [] } = project;
    return (white === undefined || isListed(white)) && !isListed(black);
  }

  const rbac = "rbac.authorization.k8s.io";
  test.each([
    [rbac, "ClusterRole", "cluster"],
    [rbac, "ClusterRoleBinding", "cluster"],
    ["", "Namespace", "cluster"],
    ["", "PersistentVolume", "cluster"],
    ["apiextensions.k8s.io", "CustomResourceDefinition", "cluster"],
    ["admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "cluster"],
    ["admissionregistration.k8s.io", "MutatingWebhookConfiguration", "cluster"],
    ["ephemeral-environments.dev", "EphemeralEnvironment", "cluster"],
    ["argoproj.io", "Application", "namespace"],
    ["argoproj.io", "AppProject", "namespace"],
    [rbac, "Role", "namespace"],
    [rbac, "RoleBinding", "namespace"],
    ["networking.k8s.io", "NetworkPolicy", "namespace"],
    ["", "ResourceQuota", "namespace"],
    ["", "LimitRange", "namespace"],
    ["", "Secret", "namespace"],
    ["", "Pod", "namespace"],
  ] as const)("%s %s", async (group, kind, scope) => {
    const project = await world.admin.find(appProjectKind, { name: namespace, namespace: "argocd" });
    const spec = project?.spec as Project;
    expect(spec.destinations.map((destination) => destination.namespace)).toEqual([namespace]);
    expect(admits(spec, "apps", "Deployment", "namespace")).toBe(true);
    expect(admits(spec, group, kind, scope)).toBe(false);
  });
});

describe("abuse case 85: a foreign namespace that is labelled as ours", () => {
  let restorePolicy: () => Promise<void>;
  beforeAll(async () => {
    restorePolicy = await liftNamespacePolicy(world.admin);
  });
  afterAll(() => restorePolicy());

  test("is neither taken for the environment's nor deleted with it", async () => {
    const made = await world.create("abused-alone");
    await world.expectPhase("abused-alone", "ready");
    const labels = { [ENVIRONMENT_UID_LABEL]: made.metadata.uid };
    const foreign = await world.admin.create(namespaceKind, { metadata: { name: "of-another-owner", labels } });
    await world.reconcile("abused-alone");
    await world.delete(made);
    const isGone = async () => (await world.find("abused-alone")) === undefined;
    await until(isGone, { what: "the end of the environment", deadlineMs: 60_000 });
    expect(await world.admin.find(namespaceKind, { name: namespaceName("abused-alone") })).toBeUndefined();
    const left = await world.admin.find(namespaceKind, { name: "of-another-owner" });
    expect(left?.metadata).toMatchObject({ uid: foreign.metadata.uid, labels });
    expect(left?.metadata.deletionTimestamp).toBeUndefined();
  }, 90_000);
});
