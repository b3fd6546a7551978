import type { Settings } from "../../../config/settings.ts";
import type { Manifest } from "../kubernetes/api-client.ts";
import { type ClusterUser, kubectl } from "../kubernetes/kubectl.ts";

/** Attributes of a SelfSubjectAccessReview: https://kubernetes.io/docs/reference/access-authn-authz/authorization/ */
interface ResourceAttributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  /** Absent for cluster-scoped resources. */
  readonly namespace?: string;
}

/**
 * The user's missing rights for applying the manifests and requesting the platform's tokens, one sentence for each resource.
 * Uses SelfSubjectAccessReviews, which every authenticated user may create.
 */
export async function missingRights(
  user: ClusterUser,
  manifests: readonly Manifest[],
  { namespace }: Pick<Settings, "namespace">,
): Promise<string[]> {
  const needed = neededRights(manifests, namespace);
  const allowed = await review(user, needed);
  const missing = Map.groupBy(
    needed.filter((_, index) => !allowed[index]),
    placeOf,
  );
  return [...missing].map(
    ([place, rights]) => `Your user may not ${rights.map(({ verb }) => verb).join(", ")} ${place}.`,
  );
}

/** The rights for applying these manifests and requesting a token of the ServiceAccount in that namespace. */
export function neededRights(manifests: readonly Manifest[], namespace: string): ResourceAttributes[] {
  const objects = manifests.flatMap(({ apiVersion, kind, metadata, spec }) => {
    const where = { group: groupOf(apiVersion), resource: pluralOf(kind), ...inNamespace(metadata.namespace) };
    return [
      ...["create", "patch", ...extraVerbs(kind)].map((verb) => ({ verb, ...where })),
      ...parametersOf(spec as ParametrizedSpec | undefined),
    ];
  });
  const token = { verb: "create", group: "", resource: "serviceaccounts", subresource: "token", namespace };
  return [...new Map([...objects, token].map((right) => [JSON.stringify(right), right])).values()];
}

interface ParametrizedSpec {
  readonly paramKind?: { readonly apiVersion: string; readonly kind: string };
}

/** The API server accepts a policy with parameters only from users who may read them. */
function parametersOf(spec: ParametrizedSpec | undefined): ResourceAttributes[] {
  if (spec?.paramKind === undefined) return [];
  const { apiVersion, kind } = spec.paramKind;
  return [{ verb: "get", group: groupOf(apiVersion), resource: pluralOf(kind) }];
}

const inNamespace = (namespace: unknown) => (typeof namespace === "string" ? { namespace } : {});

const groupOf = (apiVersion: string) => (apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "");

/** The plural rule of Kubernetes' own kinds in the chart and in its policies. */
const pluralOf = (kind: string) => `${kind.toLowerCase().replace(/y$/, "ie").replace(/s$/, "se")}s`;

/** The platform gets rights on its own kinds, which even an administrator's role may cover by `*` only. */
function extraVerbs(kind: string): string[] {
  if (/^(Cluster)?Role$/.test(kind)) return ["escalate", "bind"];
  return [];
}

async function review(user: ClusterUser, rights: readonly ResourceAttributes[]): Promise<boolean[]> {
  const items = rights.map((resourceAttributes) => ({
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes },
  }));
  const list = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  const printed = ["--filename=-", '--output=jsonpath={.status.allowed}{"\\n"}'];
  const answers = await kubectl(user, ["create", "--validate=false", ...printed], { input: list });
  return answers
    .trim()
    .split("\n")
    .map((answer) => answer === "true");
}

function placeOf({ group, resource, subresource, namespace }: ResourceAttributes): string {
  const name = [subresource ? `${resource}/${subresource}` : resource, group].filter(Boolean).join(".");
  return namespace === undefined ? name : `${name} in the namespace ${namespace}`;
}
