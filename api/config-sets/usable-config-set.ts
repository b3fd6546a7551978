import type { ConfigSet } from "../../crds/config-set.ts";
import type { EnvironmentSpec } from "../../crds/environment/ephemeral-environment.ts";
import { TTL_DEFAULT_HOURS } from "../../crds/environment/ttl.ts";
import type { Violation } from "../../crds/errors.ts";
import { mayUse } from "../auth/access.ts";
import type { Caller } from "../auth/callers.ts";
import type { CreateRequest } from "../environments/schemas.ts";
import type { Services } from "../route.ts";

type Outside = Pick<Services, "settings" | "configSets">;

/** The config set that a creation is to have, if any, and what is wrong with the one that it names. */
export interface ChosenConfigSet {
  readonly configSet: ConfigSet | undefined;
  readonly violations: readonly Violation[];
}

/**
 * The config set that the request names, else the default one where the caller may use it. One that is absent, that the
 * caller may not use, or that is for production look alike.
 */
export function chosenConfigSet(
  request: Pick<CreateRequest, "config_set">,
  caller: Caller,
  outside: Outside,
): ChosenConfigSet {
  const { settings, configSets } = outside;
  const name = request.config_set || settings.defaultConfigSet;
  const found = name === undefined ? undefined : configSets.find(name);
  const configSet = found !== undefined && mayUse(caller, found) && !found.spec.production ? found : undefined;
  if (!request.config_set || configSet !== undefined) return { configSet, violations: [] };
  return {
    configSet,
    violations: [{ field: "config_set", message: `no config set '${request.config_set}' is registered` }],
  };
}

/** What follows from the config set and is settled with the creation: later versions of it change none of this. */
export function configured(
  request: CreateRequest,
  configSet: ConfigSet | undefined,
  { settings }: Pick<Outside, "settings">,
): Pick<EnvironmentSpec, "ttlHours" | "configSet" | "database"> {
  const { ttlDefaultHours = TTL_DEFAULT_HOURS, database } = configSet?.spec ?? {};
  // Without a name the contract's default holds, whatever the default set says.
  const ttlHours = request.config_set ? ttlDefaultHours : TTL_DEFAULT_HOURS;
  const isDefault = database?.enabled ?? false;
  const provision = hasDatabase(request, configSet);
  return {
    ttlHours: request.ttl ?? Math.min(ttlHours, settings.ttl.maximumHours),
    ...(configSet ? { configSet: { name: configSet.metadata.name } } : {}),
    // False needs no word unless the config set says otherwise.
    ...(provision || isDefault ? { database: { provision } } : {}),
  };
}

/** Whether the environment gets a database: as the request says, else as its config set does. */
export function hasDatabase(request: CreateRequest, configSet: ConfigSet | undefined): boolean {
  return request.provision_database ?? configSet?.spec.database?.enabled ?? false;
}
