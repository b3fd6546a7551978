import { type WireObject, wireKind } from "../../kit/client/kinds.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import type { ResourceType } from "../../kit/client/objects.ts";

/** https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery: all groups in one answer. */
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
/** A hundred times what an API server with many definitions answers. */
const LIMIT_BYTES = 64 * 1024 ** 2;

interface GroupList {
  readonly items?: readonly ServedGroup[];
}

interface ServedGroup {
  readonly metadata?: { readonly name?: string };
  /** The preferred one first. */
  readonly versions?: readonly { readonly version: string; readonly resources?: readonly ServedResource[] }[];
}

interface ServedResource {
  readonly resource: string;
  readonly responseKind?: { readonly kind?: string };
  readonly scope?: string;
  readonly verbs?: readonly string[];
}

/**
 * Every kind of object that is stored in namespaces, each in the version that its group prefers: what a namespace may hold. A
 * group whose server is away is left out.
 *
 * @throws KubeError when the API server can't be asked
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
  // Some are served in a later version alone.
  return [...Map.groupBy(kinds, ({ plural }) => plural).values()].flatMap((same) => same.slice(0, 1));
}

const isStored = ({ scope, verbs = [] }: ServedResource) =>
  scope === "Namespaced" && ["list", "patch", "delete"].every((verb) => verbs.includes(verb));

async function groupsAt(client: KubeClient, path: string): Promise<readonly ServedGroup[]> {
  const text = await client.text(path, {}, { limitBytes: LIMIT_BYTES, accept: AGGREGATED });
  return (JSON.parse(text) as GroupList).items ?? [];
}
