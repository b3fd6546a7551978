import type { WatchedKind } from "../kit/cache/watched-kind.ts";
import type { WireObject } from "../kit/client/kinds.ts";
import type { KubeClient } from "../kit/client/kube-client.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { DeployerLog } from "./api/deployer-log.ts";
import type { OwnedCaches } from "./caches.ts";
import type { Cluster } from "./cluster.ts";
import type { Deployer, LeftFields } from "./deployer.ts";

/** Health of the deployer, seen through its objects. */
export interface DeployerHealth {
  /** Path of its collection of applications: the deployer is healthy when the API server answers it. */
  readonly path: string;
  applicationsSynced(): number;
}

/** The parts that a deployer works with. */
export interface DeployerContext {
  readonly cluster: Cluster;
  /** Reaches what a chart made, which is no object of the environment's own. */
  readonly client: Pick<KubeClient, "list" | "delete">;
  readonly clock: Clock;
}

/** One of the deployers that `settings.deployer.kind` chooses from: all that the platform needs of it. */
export interface DeployerTechnology {
  readonly kinds: readonly WatchedKind<WireObject>[];
  deployer(context: DeployerContext): Deployer;
  log(cluster: Pick<Cluster, "read">): DeployerLog;
  /** Fields that this technology leaves alone as the GitOps tool of environments. */
  leftFields(client: Pick<KubeClient, "find">): LeftFields;
  health(watched: OwnedCaches): DeployerHealth;
}
