import type { WatchedKind } from "../kit/cache/watched-kind.ts";
import type { WireObject } from "../kit/client/kinds.ts";
import type { KubeClient } from "../kit/client/kube-client.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { OwnedCaches } from "./caches.ts";
import type { Cluster } from "./cluster.ts";
import type { Deployer } from "./deployer.ts";
import type { DeployerLog } from "./facade/deployer-log.ts";
import type { LeftFields } from "./left-fields.ts";

/** Health of the deployer, seen through its objects. */
export interface DeployerHealth {
  /** Path of its collection of applications: the deployer is healthy when the API server answers it. */
  readonly path: string;
  applicationsSynced(): number;
}

/** One deployer of `settings.deployer.kind`: all that the platform needs of it. */
export interface DeployerTechnology {
  readonly kinds: readonly WatchedKind<WireObject>[];
  deployer(cluster: Cluster, clock: Clock): Deployer;
  log(cluster: Pick<Cluster, "read">): DeployerLog;
  /** Fields that this technology leaves alone as the GitOps tool of environments. */
  leftFields(client: Pick<KubeClient, "find">): LeftFields;
  health(watched: OwnedCaches): DeployerHealth;
}
