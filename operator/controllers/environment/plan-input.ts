import type { ConfigSetSpec } from "../../../crds/config-set.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { oncePer } from "../../../crds/once-per.ts";
import type { BackingService } from "./backing-services/backing-service.ts";
import { configurationOf } from "./configuration.ts";
import { type ComponentRepositories, repositoriesOf } from "./repositories.ts";
import type { StepContext } from "./step.ts";

/** What the secrets, variables and chart values of an environment are computed from. */
export interface PlanInput {
  readonly environment: EphemeralEnvironment;
  /** The Repositories that it may use, by component. */
  readonly repositories: ComponentRepositories;
  /** Its version of the config set; `undefined` when it has none. */
  readonly configSet: ConfigSetSpec | undefined;
  /** All backing services of the platform, whether the environment has them or not. */
  readonly services: readonly BackingService[];
}

/** The input as steps know it now; gathered once for all steps of a run, which have the same environment object. */
export const planInput = oncePer(
  (environment: EphemeralEnvironment, context: StepContext): PlanInput => ({
    environment,
    repositories: repositoriesOf(environment, context.repositories),
    configSet: configurationOf(environment, context)?.spec,
    services: context.backingServices,
  }),
);
