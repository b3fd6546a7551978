import { resourcePath } from "../../kit/client/objects.ts";
import type { DeployerTechnology } from "../../ports/deployer-technology.ts";
import { argocdDeployer } from "./deployer.ts";
import { argocdDeployerLog } from "./deployer-log.ts";
import { applicationKind, argocdKinds } from "./kinds.ts";
import { argocdLeftFields } from "./left-fields.ts";
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

function isSynced({ status }: { readonly [field: string]: unknown }): boolean {
  return (status as { sync?: { status?: string } } | undefined)?.sync?.status === "Synced";
}
