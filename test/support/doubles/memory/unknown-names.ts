import type { ConfigSet } from "../../../../crds/config-set.ts";
import type { Repository } from "../../../../crds/repository/repository.ts";
import type { Clock } from "../../../../operator/kit/time/clock.ts";
import type { UnknownNames } from "../../../../operator/ports/api/unknown-names.ts";
import type { MemoryConfigSets } from "./config-sets.ts";
import type { MemoryRepositories } from "./repositories.ts";

export interface MemoryUnknownNames extends UnknownNames {
  /** Registers a Repository that the watch has not delivered yet. */
  registerLate(repository: Repository): void;
  /** The same for a config set. */
  makeLate(configSet: ConfigSet): void;
  /** Names that were requested of the API server, in their order. */
  readonly requested: readonly string[];
  failNext(error: Error): void;
}

interface Known {
  readonly repositories: MemoryRepositories;
  readonly configSets: MemoryConfigSets;
  readonly clock: Clock;
}

const ABSENT_MS = 1_000;

/** Look-ups without a cluster; fulfils `unknownNamesSuite`. */
export function memoryUnknownNames({ repositories, configSets, clock }: Known): MemoryUnknownNames {
  const late = { repository: new Map<string, Repository>(), configSet: new Map<string, ConfigSet>() };
  const finders = { repository: repositories, configSet: configSets };
  const requested: string[] = [];
  const absent = new Map<string, number>();
  let failure: Error | undefined;

  function deliver(kind: keyof typeof late, name: string): void {
    const [repository, configSet] = [late.repository.get(name), late.configSet.get(name)];
    if (kind === "repository" && repository !== undefined) repositories.put(repository);
    else if (kind === "configSet" && configSet !== undefined) configSets.put(configSet);
    else absent.set(`${kind}/${name}`, clock.monotonicMs() + ABSENT_MS);
  }

  return {
    requested,
    registerLate: (repository) => void late.repository.set(repository.metadata.name, repository),
    makeLate: (configSet) => void late.configSet.set(configSet.metadata.name, configSet),
    failNext(error) {
      failure = error;
    },
    async lookUp(kind, name) {
      if (finders[kind].find(name) !== undefined) return;
      if (clock.monotonicMs() < (absent.get(`${kind}/${name}`) ?? 0)) return;
      requested.push(name);
      const error = failure;
      failure = undefined;
      if (error !== undefined) throw error;
      deliver(kind, name);
    },
  };
}
