import type { ConfigSetSpec } from "../../../crds/config-set.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { oncePer } from "../../../crds/once-per.ts";
import type { BackingService } from "./backing-services/backing-service.ts";
import { configurationOf } from "./configuration.ts";
import { type ComponentRepositories, componentRepositories } from "./repositories.ts";
import type { StepContext } from "./step.ts";

/** Basis of an environment's secrets, variables and chart values. */
export interface PlanInput {
  readonly environment: EphemeralEnvironment;
  readonly repositories: ComponentRepositories;
  /** Version of the config set, if any. */
  readonly configSet: ConfigSetSpec | undefined;
  /** All backing services of the platform, used or not. */
  readonly services: readonly BackingService[];
}

/** Backing services of the environment. */
export function desiredServices({ environment, configSet, services }: PlanInput): readonly BackingService[] {
  return services.filter(({ isDesired }) => isDesired(environment.spec, configSet));
}

/** Current input of steps; computed once per run, whose steps share the environment object. */
export const planInput = oncePer(
  (environment: EphemeralEnvironment, context: StepContext): PlanInput => ({
    environment,
    repositories: componentRepositories(environment, context.repositories),
    configSet: configurationOf(environment, context)?.spec,
    services: context.backingServices,
  }),
);
