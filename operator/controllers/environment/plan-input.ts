import type { Settings } from "../../../config/settings.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { oncePer } from "../../../crds/once-per.ts";
import { present } from "../../../crds/present.ts";
import type { Repositories } from "../../ports/repositories.ts";
import type { BackingService, ObservedCopySource, ServiceInput } from "./backing-services/backing-service.ts";
import { type ConfigSetSources, configurationOf } from "./configuration.ts";
import { componentRepositories } from "./repositories.ts";
import type { Unfinished } from "./step-result.ts";

/** The resources that the plan input comes from. */
export interface PlanSources extends ConfigSetSources {
  readonly repositories: Repositories;
  /** The backing services that environments may have. */
  readonly backingServices: readonly BackingService[];
  /** The environment as the cache has it, by name. */
  readonly environment: (name: string) => EphemeralEnvironment | undefined;
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

/** True while the first data of any of its services is being loaded, as far as is known. */
export function isFirstDataPending(input: PlanInput, settings: Settings): boolean {
  const loads = desiredServices(input).map(({ firstData }) => firstData?.pending(input, settings));
  return loads.some((load) => load !== undefined && load.obstacle === undefined);
}

/** Result while the first data of one of its services can't be loaded; `undefined` where it can, or need not be. */
export function firstDataProblem(input: PlanInput, settings: Settings): Unfinished | undefined {
  const problems = desiredServices(input).map(
    ({ firstData }) => firstData?.problem(input, settings) ?? firstData?.pending(input, settings)?.obstacle,
  );
  return problems.find((problem) => problem !== undefined);
}

/** Current input of steps; computed once per run, whose steps share the environment object. */
export const planInput = oncePer(
  (environment: EphemeralEnvironment, sources: PlanSources): PlanInput => ({
    environment,
    repositories: componentRepositories(environment, sources.repositories),
    configSet: configurationOf(environment, sources)?.spec,
    services: sources.backingServices,
    ...present({ copySource: copySourceOf(environment, sources) }),
  }),
);

function copySourceOf({ spec }: EphemeralEnvironment, sources: PlanSources): ObservedCopySource | undefined {
  const name = spec.database?.from?.environment;
  const environment = name === undefined ? undefined : sources.environment(name);
  if (environment === undefined) return undefined;
  const configSet = configurationOf(environment, sources)?.spec;
  return { environment, configSet, isConfigured: environment.spec.configSet === undefined || configSet !== undefined };
}
