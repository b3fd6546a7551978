import type { WatchedKind } from "../kit/cache/watched-kind.ts";
import type { WireObject } from "../kit/client/kinds.ts";
import type { KubeClient } from "../kit/client/kube-client.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { OwnedCaches } from "./caches.ts";
import type { Cluster } from "./cluster.ts";
import type { Deployer } from "./deployer.ts";
import type { DeployerLog } from "./facade/deployer-log.ts";
import type { LeftFields } from "./left-fields.ts";

/** How the deployer is, seen through its objects. */
export interface DeployerHealth {
  /** The deployer is healthy where the API server answers this path: its collection of applications. */
  readonly path: string;
  /** How many environments' applications are synced, as the watch saw them last. */
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
  /** The kinds of its objects that belong to environments. */
  readonly kinds: readonly WatchedKind<WireObject>[];
  deployer(context: DeployerContext): Deployer;
  log(cluster: Pick<Cluster, "read">): DeployerLog;
  /** What this technology leaves alone where it is the GitOps tool that keeps environments as Git has them. */
  leftFields(client: Pick<KubeClient, "find">): LeftFields;
  health(watched: OwnedCaches): DeployerHealth;
}
