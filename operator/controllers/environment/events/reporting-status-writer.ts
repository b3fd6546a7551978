import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { EnvironmentStatusWriter } from "../../../ports/environments.ts";
import type { EventRecorder } from "../../../ports/event-recorder.ts";
import { deleted, eventsOf } from "./environment-events.ts";

interface ReportingDependencies {
  readonly events: EventRecorder;
  readonly clock: Clock;
  /** The foreign field managers that last wrote the spec of the environment of this name. */
  readonly writersOf: (name: string) => readonly string[];
}

/**
 * A writer that publishes the events of each status write. Only one process can store the status of a version, so an
 * event has one author, and neither a restart nor a second leader repeats it.
 */
export function reportingStatusWriter(
  writer: EnvironmentStatusWriter,
  { events, clock, writersOf }: ReportingDependencies,
): EnvironmentStatusWriter {
  return {
    addFinalizer: (environment) => writer.addFinalizer(environment),
    async writeStatus(environment, status) {
      const stored = await writer.writeStatus(environment, status);
      const after: EphemeralEnvironment = { ...stored, status };
      const writers = writersOf(environment.metadata.name);
      for (const event of eventsOf({ before: environment, after, writers })) events.publish(event, after.metadata);
      return stored;
    },
    async removeFinalizer(environment) {
      await writer.removeFinalizer(environment);
      events.publish(deleted(environment, clock.now()), environment.metadata);
    },
  };
}
