import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { toEnvironmentCost } from "../costs/environment-cost.ts";
import type { Services } from "../services.ts";
import type { EnvironmentReport } from "./schemas.ts";
import { toReport } from "./views.ts";

/** Environment in version 2, with its cost until now. */
export function reported(environment: EphemeralEnvironment, services: Services): EnvironmentReport {
  return toReport(environment, { settings: services.settings, cost: toEnvironmentCost(environment, services) });
}
