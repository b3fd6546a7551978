import type { ClusterSite, PreparedSite } from "../site.ts";
import type { Startable } from "../start-order.ts";

/** One thing that the local cluster consists of. */
export type Component = UnbuiltComponent | BuiltComponent;

/**
 * A component without programs that are built here. It starts before anything is compiled, so that what is wrong with the
 * machine shows in seconds; it can come after its own kind alone.
 */
export interface UnbuiltComponent extends Startable {
  readonly needsBuild: false;
  /** Starts what is missing of it, leaves what runs alone, and returns when it is ready. */
  start(site: PreparedSite): Promise<void>;
}

/** A component that starts when everything is built. */
export interface BuiltComponent extends Startable {
  readonly needsBuild?: true;
  /** Starts what is missing of it, leaves what runs alone, and returns when it is ready. */
  start(site: ClusterSite): Promise<void>;
}
