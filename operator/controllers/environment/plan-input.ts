import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { oncePer } from "../../../crds/once-per.ts";
import type { Repositories } from "../../ports/repositories.ts";
import type { BackingService, ServiceInput } from "./backing-services/backing-service.ts";
import { type ConfigSetSources, configurationOf } from "./configuration.ts";
import { componentRepositories } from "./repositories.ts";

/** The resources that the plan input comes from. */
export interface PlanSources extends ConfigSetSources {
  readonly repositories: Repositories;
  /** The backing services that environments may have. */
  readonly backingServices: readonly BackingService[];
}

/** Basis of an environment's secrets, variables and chart values. */
export interface PlanInput extends ServiceInput {
  /** All backing services of the platform, used or not. */
  readonly services: readonly BackingService[];
}

/** Backing services of the environment. */
export function desiredServices({ environment, configSet, services }: PlanInput): readonly BackingService[] {
  return services.filter(({ isDesired }) => isDesired(environment.spec, configSet));
}

/** Current input of steps; computed once per run, whose steps share the environment object. */
export const planInput = oncePer(
  (environment: EphemeralEnvironment, sources: PlanSources): PlanInput => ({
    environment,
    repositories: componentRepositories(environment, sources.repositories),
    configSet: configurationOf(environment, sources)?.spec,
    services: sources.backingServices,
  }),
);
