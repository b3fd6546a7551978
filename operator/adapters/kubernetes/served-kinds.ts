import { type WireObject, wireKind } from "../../kit/client/kinds.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import type { ResourceType } from "../../kit/client/objects.ts";

/** https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery: all groups in one answer. */
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
/** A hundred times the answer of an API server with many CRDs. */
const LIMIT_BYTES = 64 * 1024 ** 2;

interface GroupList {
  readonly items?: readonly ServedGroup[];
}

interface ServedGroup {
  readonly metadata?: { readonly name?: string };
  /** Preferred first. */
  readonly versions?: readonly { readonly version: string; readonly resources?: readonly ServedResource[] }[];
}

interface ServedResource {
  readonly resource: string;
  readonly responseKind?: { readonly kind?: string };
  readonly scope?: string;
  readonly verbs?: readonly string[];
}

/**
 * Every namespaced kind that is stored, in its group's preferred version. A group with an unavailable server is left
 * out.
 *
 * @throws KubeError when the API server is unreachable
 */
export async function storedKinds(client: KubeClient): Promise<readonly ResourceType<WireObject>[]> {
  const groups = await Promise.all(["/api", "/apis"].map((path) => groupsAt(client, path)));
  return groups.flat().flatMap(kindsOf);
}

function kindsOf({ metadata, versions = [] }: ServedGroup): ResourceType<WireObject>[] {
  const kinds = versions.flatMap(({ version, resources = [] }) =>
    resources.filter(isStored).map(({ resource, responseKind }) => {
      const facts = { group: metadata?.name ?? "", version, plural: resource, namespaced: true };
      return wireKind({ ...facts, kind: responseKind?.kind ?? resource });
    }),
  );
  // Some kinds are served only in a later version.
  return [...Map.groupBy(kinds, ({ plural }) => plural).values()].flatMap((same) => same.slice(0, 1));
}

const isStored = ({ scope, verbs = [] }: ServedResource) =>
  scope === "Namespaced" && ["list", "patch", "delete"].every((verb) => verbs.includes(verb));

async function groupsAt(client: KubeClient, path: string): Promise<readonly ServedGroup[]> {
  const text = await client.text(path, {}, { limitBytes: LIMIT_BYTES, accept: AGGREGATED });
  return (JSON.parse(text) as GroupList).items ?? [];
}
