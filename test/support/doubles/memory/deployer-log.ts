import type { DeployerEntry, DeployerLog } from "../../../../operator/ports/deployer.ts";

/** A deployer's log, filled by a test. */
export interface MemoryDeployerLog extends DeployerLog {
  /** Adds an entry for the environment's application. */
  say(environment: string, entry: DeployerEntry): void;
}

/** Answers entries of one application, the oldest first. */
export function memoryDeployerLog(): MemoryDeployerLog {
  const said = new Map<string, DeployerEntry[]>();
  return {
    entries: async ({ name }) =>
      [...(said.get(name) ?? [])].sort((one, other) => one.at.getTime() - other.at.getTime()),
    say: (environment, entry) => void said.set(environment, [...(said.get(environment) ?? []), entry]),
  };
}
