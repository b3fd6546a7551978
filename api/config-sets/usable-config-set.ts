import type { ConfigSet } from "../../crds/config-set.ts";
import type { Violation } from "../../crds/errors.ts";
import { type Caller, mayUse } from "../auth/access.ts";
import type { Services } from "../services.ts";

interface ChosenConfigSet {
  readonly configSet: ConfigSet | undefined;
  readonly violations: readonly Violation[];
}

/**
 * Config set of the request, else the default one if the caller may use it. A missing one, a forbidden one and one for
 * production are refused in the same words.
 */
export function usableConfigSet(
  named: string | undefined,
  caller: Caller,
  { settings, configSets }: Pick<Services, "settings" | "configSets">,
): ChosenConfigSet {
  const name = named || settings.defaultConfigSet;
  const found = name === undefined ? undefined : configSets.find(name);
  const configSet = found !== undefined && mayUse(caller, found) && !found.spec.production ? found : undefined;
  if (!named || configSet !== undefined) return { configSet, violations: [] };
  return { configSet, violations: [{ field: "config_set", message: `no config set '${named}' is registered` }] };
}
