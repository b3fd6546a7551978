import type { BackingService } from "../backing-services/backing-service.ts";
import type { Schedule } from "../schedule.ts";
import type { Step } from "../step.ts";
import { application } from "./application.ts";
import { availability } from "./availability.ts";
import { backingService } from "./backing-service.ts";
import { configuration } from "./configuration.ts";
import { isolation } from "./isolation.ts";
import { namespace } from "./namespace.ts";
import { secrets } from "./secrets.ts";
import { source } from "./source.ts";

/** Steps to a ready environment, each after the steps that it needs. */
export function environmentSteps(
  services: readonly BackingService[],
  schedules: Readonly<Record<"probes" | "secretChecks", Schedule>>,
): readonly Step[] {
  return [
    namespace,
    configuration,
    isolation,
    secrets(schedules.secretChecks),
    source,
    ...services.map(backingService),
    application,
    availability(schedules.probes),
  ];
}
