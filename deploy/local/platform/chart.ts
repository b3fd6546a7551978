import type { ApiClient, Manifest } from "../kubernetes/api-client.ts";
import { untilServed } from "../kubernetes/custom-kinds.ts";
import { renderChart } from "../kubernetes/helm.ts";
import type { PlatformAccount } from "./token.ts";

/** The platform's default ServiceAccount. */
export const platformAccount = { namespace: "ephemeral-system", serviceAccount: "platform" } as const;

const first = ["Namespace", "CustomResourceDefinition"];
const policies = [
  "MutatingAdmissionPolicy",
  "MutatingAdmissionPolicyBinding",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
];

/** The platform chart's objects in the order in which an API server accepts them. */
export interface PlatformManifests {
  readonly kinds: readonly Manifest[];
  readonly objects: readonly Manifest[];
  /**
   * Each policy takes effect a moment after it is written; written last and in this order, all hold as soon as the last one
   * does.
   */
  readonly policies: readonly Manifest[];
}

/** Further inputs of a rendering of the platform chart. */
interface Rendering {
  /** The version of `ChartRelease`. */
  readonly kubeVersion?: string | undefined;
  /** The chart's values of the gate, which runs elsewhere, like the operator. Default: none. */
  readonly gate?: object | undefined;
}

/**
 * Renders the platform chart without the operator's Deployment: the kinds, the platform's identity with its rights, and the
 * policies. `settings` follow config/settings.schema.ts. Fails with helm's message.
 */
export async function renderPlatformChart(
  settings: object & Partial<PlatformAccount>,
  helm: string,
  { kubeVersion, gate = {} }: Rendering = {},
): Promise<PlatformManifests> {
  const { namespace = platformAccount.namespace } = settings;
  const values = { settings, createNamespace: true, operator: { enabled: false }, gate };
  const manifests = await renderChart({ chart: "platform", release: "platform", namespace, values, kubeVersion }, helm);
  const ofKinds = (kinds: readonly string[]) => manifests.filter(({ kind }) => kinds.includes(kind));
  return {
    kinds: ofKinds(first),
    objects: manifests.filter(({ kind }) => ![...first, ...policies].includes(kind)),
    policies: ofKinds(policies).sort(byName),
  };
}

/** Installs the rendered platform chart; returns when the kinds are served. Idempotent. The deployer's namespace must exist. */
export async function applyPlatformChart(client: ApiClient, manifests: PlatformManifests): Promise<void> {
  await applyAll(client, manifests.kinds);
  await applyAll(client, manifests.objects);
  for (const manifest of manifests.policies) await client.apply(manifest);
  for (const name of definitionNames(manifests)) await untilServed(client, name, "v1");
}

/** Names of the chart's custom resource definitions: `repositories.ephemeral-environments.dev`. */
export function definitionNames({ kinds }: PlatformManifests): string[] {
  return kinds.filter(({ kind }) => kind === "CustomResourceDefinition").map(({ metadata }) => metadata.name);
}

async function applyAll(client: ApiClient, manifests: readonly Manifest[]): Promise<void> {
  await Promise.all(manifests.map((manifest) => client.apply(manifest)));
}

function byName(one: Manifest, other: Manifest): number {
  return one.metadata.name < other.metadata.name ? -1 : 1;
}
