import type { Owner } from "../cluster.ts";

/** One thing that the deployer says of an application. */
export interface DeployerEntry {
  readonly at: Date;
  readonly level: "INFO" | "WARN" | "ERROR";
  /** For people, without control characters. */
  readonly message: string;
}

/** What the deployer says of an environment's application: not what it writes into logs of its own, which tell of others, too. */
export interface DeployerLog {
  /**
   * Its conditions, its last operation and what became of each resource in it, the oldest first. Empty while there is no
   * application. One read.
   *
   * @throws ClusterUnavailable when the API server does not answer
   */
  entries(environment: Owner): Promise<readonly DeployerEntry[]>;
}
