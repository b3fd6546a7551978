import { expect, test } from "@jest/globals";
import { components } from "../../../../deploy/local/components/index.ts";

const named = new Map(components.map((component) => [component.name, component]));

/** Everything that is ready before the component starts. */
function before(name: string): ReadonlySet<string> {
  const direct = named.get(name)?.after ?? [];
  return new Set([...direct, ...direct.flatMap((one) => [...before(one)])]);
}

test("programs that are no administrators start after Kubernetes' roles", () => {
  const programs = [
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
    "kube-proxy",
    "coredns",
    "traefik",
    "argocd-application-controller",
    "operator",
    "gate",
  ];
  expect(programs.filter((name) => !named.has(name))).toEqual([]);
  expect(programs.filter((name) => !before(name).has("Kubernetes' roles"))).toEqual([]);
});

test("what an administrator does begins as soon as the API server serves", () => {
  const early = ["Argo CD settings", "platform chart"];
  expect(early.filter((name) => before(name).has("Kubernetes' roles"))).toEqual([]);
});
