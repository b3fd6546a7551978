import type { ClusterSite, PreparedSite } from "../site.ts";
import type { Startable } from "../start-order.ts";

/** A component of the local cluster. */
export type ClusterComponent = UnbuiltComponent | BuiltComponent;

/**
 * A component without programs that are built here. It starts before anything is compiled, so that a problem of the machine
 * shows in seconds; it follows only its own kind.
 */
export interface UnbuiltComponent extends Startable {
  readonly needsBuild: false;
  /** Starts missing parts, keeps running ones, and returns when the component is ready. */
  start(site: PreparedSite): Promise<void>;
}

/** A component that starts after the build. */
export interface BuiltComponent extends Startable {
  readonly needsBuild?: true;
  /** Starts missing parts, keeps running ones, and returns when the component is ready. */
  start(site: ClusterSite): Promise<void>;
}
