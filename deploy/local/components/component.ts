import type { ClusterSite } from "../site.ts";

/** One thing that the local cluster consists of. */
export interface Component {
  readonly name: string;
  /** The components that must be ready before this one is started. Components without order start at the same time. */
  readonly after: readonly string[];
  /** Starts what is missing of it, leaves what runs alone, and returns when it is ready. */
  start(site: ClusterSite): Promise<void>;
}
