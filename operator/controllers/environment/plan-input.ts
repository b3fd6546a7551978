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

const loadsOf = (input: PlanInput, settings: Settings) =>
  desiredServices(input).flatMap(({ firstData }) => firstData?.pending(input, settings) ?? []);

/** True while the first data of any of its services is not known to be loaded. */
export function isFirstDataPending(input: PlanInput, settings: Settings): boolean {
  return loadsOf(input, settings).length > 0;
}

/** Results while the first data of one of its services can't be loaded: by its chart, and from its origin. */
export function firstDataProblems(
  input: PlanInput,
  settings: Settings,
): { readonly problem: Unfinished | undefined; readonly obstacle: Unfinished | undefined } {
  const [problem] = desiredServices(input).flatMap(({ firstData }) => firstData?.problem(input, settings) ?? []);
  const [obstacle] = loadsOf(input, settings).flatMap((load) => load.obstacle ?? []);
  return { problem, obstacle };
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
  const { configSet } = environment.spec;
  const resolved = configurationOf(environment, sources)?.spec;
  // Also of now: statements that were added since hide rows of older sources, too.
  const current = configSet && sources.configSets.find(configSet.name)?.spec;
  const masks = [resolved, current].flatMap((one) => one?.database?.mask ?? []);
  return { environment, masks, isConfigured: configSet === undefined || resolved !== undefined };
}
