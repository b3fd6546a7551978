import type { DeployerEntry, DeployerLog } from "../../../../operator/ports/facade/deployer-log.ts";

/** A deployer that says what a test lets it say. */
export interface MemoryDeployerLog extends DeployerLog {
  /** Of an environment's application. */
  say(environment: string, entry: DeployerEntry): void;
}

/** Keeps the promises of the port: the oldest first, nothing of another's application. */
export function memoryDeployerLog(): MemoryDeployerLog {
  const said = new Map<string, DeployerEntry[]>();
  return {
    entries: async ({ name }) =>
      [...(said.get(name) ?? [])].sort((one, other) => one.at.getTime() - other.at.getTime()),
    say: (environment, entry) => void said.set(environment, [...(said.get(environment) ?? []), entry]),
  };
}
