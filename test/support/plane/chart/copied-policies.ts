import type { Manifest } from "../../../../deploy/local/kubernetes/api-client.ts";
import { helmProgram, renderChart } from "../../../../deploy/local/kubernetes/helm.ts";
import { testSettings } from "../../fixtures/test-settings.ts";
import type { ApiCalls } from "../api-calls.ts";
import { given } from "./environment-objects.ts";

const admission = "/apis/admissionregistration.k8s.io/v1";
const collections = {
  ValidatingAdmissionPolicy: `${admission}/validatingadmissionpolicies`,
  ValidatingAdmissionPolicyBinding: `${admission}/validatingadmissionpolicybindings`,
} as const;

interface Copies {
  /** Names without our group. */
  readonly names: readonly string[];
  /** Stands for an environment's namespace. Without the label, the chart's own policies do not apply there. */
  readonly namespace: string;
  readonly environments?: object;
}

/** Policies put into force by a test. */
export interface CopiedPolicies {
  remove(): Promise<void>;
}

/**
 * Puts policies of the chart into force under other names, for one namespace. They take effect a moment later, bindings in
 * the order of `names`.
 */
export async function copiedPolicies(admin: ApiCalls, copies: Copies): Promise<CopiedPolicies> {
  const made = (await rendered(copies)).map((manifest) => copy(manifest, copies.namespace));
  for (const kind of Object.keys(collections) as (keyof typeof collections)[]) {
    for (const one of made.filter((object) => object.kind === kind)) await given(admin, collections[kind], one);
  }
  return {
    async remove() {
      for (const { kind, metadata } of made.toReversed()) {
        await admin.delete(`${collections[kind as keyof typeof collections]}/${metadata.name}`);
      }
    },
  };
}

async function rendered({ names, environments = {} }: Copies): Promise<Manifest[]> {
  const values = { settings: testSettings, operator: { enabled: false }, environments };
  const release = { chart: "platform", release: "platform", namespace: "ephemeral-system", values } as const;
  const manifests = await renderChart(release, await helmProgram());
  return names.flatMap((name) =>
    manifests.filter(({ kind, metadata }) => kind in collections && metadata.name.startsWith(`${name}.`)),
  );
}

function copy({ kind, metadata, ...rest }: Manifest, namespace: string): Manifest {
  const spec = rest.spec as { policyName: string; matchConstraints: object };
  const renamed = (name: string) => `${namespace}.${name}`;
  const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": namespace } };
  const changed =
    kind === "ValidatingAdmissionPolicy"
      ? { ...spec, matchConstraints: { ...spec.matchConstraints, namespaceSelector } }
      : { ...spec, policyName: renamed(spec.policyName) };
  return { ...rest, kind, metadata: { name: renamed(metadata.name) }, spec: changed };
}
