import type { Schedules } from "../schedule.ts";
import type { Step } from "../step.ts";
import { application } from "./application.ts";
import { availability } from "./availability.ts";
import { backingServices } from "./backing-service.ts";
import { configuration } from "./configuration.ts";
import { isolation } from "./isolation.ts";
import { namespace } from "./namespace.ts";
import { secrets } from "./secrets.ts";
import { source } from "./source.ts";

const STEPS = [
  namespace,
  configuration,
  isolation,
  secrets,
  source,
  backingServices,
  application,
  availability,
] as const;

/** The settings and ports of all steps: exactly those that they name. */
export type StepDependencies = (typeof STEPS)[number] extends (dependencies: infer D, schedules: Schedules) => unknown
  ? D
  : never;

/** Makes the steps to a ready environment, each after the steps that it needs. */
export function environmentSteps(dependencies: StepDependencies, schedules: Schedules): readonly Step[] {
  return STEPS.flatMap((create) => create(dependencies, schedules));
}
