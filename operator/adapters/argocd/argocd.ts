import { environmentKind } from "../../../crds/environment/ephemeral-environment.ts";
import { ARGOCD_TRACKING_ANNOTATION } from "../../../crds/environment/managed-by.ts";
import { FIELD_MANAGER } from "../../../crds/group.ts";
import type { WireObject } from "../../kit/client/kinds.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import { resourcePath } from "../../kit/client/objects.ts";
import type { DeployerTechnology, LeftFields } from "../../ports/deployer.ts";
import type { KeptApplicationStatus } from "./application-status.ts";
import { argocdDeployer } from "./deployer.ts";
import { argocdDeployerLog } from "./deployer-log.ts";
import { applicationKind, argocdKinds } from "./kinds.ts";
import type { ArgocdSettings } from "./objects.ts";

export function argocd(settings: ArgocdSettings): DeployerTechnology {
  return {
    kinds: argocdKinds(settings.namespace),
    deployer: (context) => argocdDeployer({ ...context, settings }),
    log: (cluster) => argocdDeployerLog(cluster, settings),
    leftFields: (client) => argocdLeftFields(client, settings),
    health: (watched) => ({
      path: resourcePath(applicationKind, { namespace: settings.namespace }),
      applicationsSynced: () => (watched.get(applicationKind.plural)?.list() ?? []).filter(isSynced).length,
    }),
  };
}

const isSynced = ({ status = {} }: WireObject) => (status as KeptApplicationStatus).sync?.status === "Synced";

/** Ignored differences of an Application. https://argo-cd.readthedocs.io/en/stable/user-guide/diffing/ */
interface ApplicationSpec {
  readonly syncPolicy?: { readonly syncOptions?: readonly string[] };
  readonly ignoreDifferences?: readonly {
    readonly group?: string;
    readonly kind: string;
    readonly name?: string;
    readonly jsonPointers?: readonly string[];
    readonly managedFieldsManagers?: readonly string[];
  }[];
}

/**
 * LeftFields port on the Application in the environment's tracking id, if it is of our Argo CD. Without the sync option
 * the next sync would write the field, although it is no difference.
 */
function argocdLeftFields(client: Pick<KubeClient, "find">, { namespace }: ArgocdSettings): LeftFields {
  return async ({ metadata }, field) => {
    const [name = ""] = (metadata.annotations?.[ARGOCD_TRACKING_ANNOTATION] ?? "").split(":");
    // An Application outside Argo CD's namespace is called <namespace>_<name>, an invalid object name.
    if (!/^[a-z0-9][a-z0-9.-]*$/.test(name)) return false;
    const { spec = {} } = ((await client.find(applicationKind, { name, namespace })) ?? {}) as Partial<WireObject>;
    const { syncPolicy, ignoreDifferences = [] } = spec as ApplicationSpec;
    if (!syncPolicy?.syncOptions?.includes("RespectIgnoreDifferences=true")) return false;
    return ignoreDifferences.some(
      (one) =>
        ["*", environmentKind.group].includes(one.group ?? "") &&
        ["*", environmentKind.kind].includes(one.kind) &&
        (one.name === undefined || one.name === metadata.name) &&
        (one.managedFieldsManagers?.includes(FIELD_MANAGER) ||
          one.jsonPointers?.some((pointer) => `/spec/${field}/`.startsWith(`${pointer}/`))),
    );
  };
}
