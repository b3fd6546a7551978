import type { Owner } from "../cluster.ts";

/** One message of the deployer about an application. */
export interface DeployerEntry {
  readonly at: Date;
  readonly level: "INFO" | "WARN" | "ERROR";
  /** Text for people, without control characters. */
  readonly message: string;
}

/** Messages of the deployer about an environment's application; not its own logs, which mention others. */
export interface DeployerLog {
  /**
   * Conditions, last operation and result of each resource in it, oldest first. Empty without an application. One read.
   *
   * @throws ClusterUnavailable when the API server does not answer
   */
  entries(environment: Owner): Promise<readonly DeployerEntry[]>;
}
