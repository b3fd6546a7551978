import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { toEnvironmentCost } from "../costs/environment-cost.ts";
import type { Services } from "../services.ts";
import type { EnvironmentReport } from "./schemas.ts";
import { toReport } from "./views.ts";

/** An environment with what goes beyond version 1, its cost until now among it. */
export function reported(environment: EphemeralEnvironment, services: Services): EnvironmentReport {
  return toReport(environment, { settings: services.settings, cost: toEnvironmentCost(environment, services) });
}
