import type { EnvironmentStatus, EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import type { Announcer } from "../../../announcements/announcer.ts";

/** What a reconcile told people. */
export interface Told {
  readonly announced: EnvironmentStatus["announced"];
  /** Transient: to be retried with backoff. What could not be told is no reason to do nothing else. */
  readonly error?: unknown;
}

/**
 * Tells people what is stored and was not announced: only a stored change has the same words after a crash.
 *
 * @param begun the environment with the status of the last reconcile, stored or not
 */
export async function tell(
  stored: EphemeralEnvironment,
  begun: EphemeralEnvironment,
  announcer: Announcer | undefined,
): Promise<Told> {
  const announced = begun.status?.announced;
  if (announcer === undefined) return { announced };
  const known = stored.status && { ...stored, status: withAnnounced(stored.status, announced) };
  try {
    return { announced: await announcer.announce(known ?? stored) };
  } catch (error) {
    return { announced: announced ?? unannounced(stored), error };
  }
}

/** Marks a creation whose message could not be made: its status will tell no more that it is new. */
function unannounced({ metadata, status }: EphemeralEnvironment): EnvironmentStatus["announced"] {
  return status?.observedGeneration === undefined
    ? { event: "unannounced", at: metadata.creationTimestamp }
    : undefined;
}

/** The status with what is announced once it is stored, and when there is something to tell again. */
export function settled(
  environment: EphemeralEnvironment,
  status: EnvironmentStatus,
  { announced, error, announcer }: Told & { readonly announcer: Announcer | undefined },
): { readonly status: EnvironmentStatus; readonly newsInMs?: number } {
  const told = withAnnounced(status, announced);
  if (announcer === undefined || error !== undefined) return { status: told };
  const { announced: next, dueInMs } = announcer.settle({ ...environment, status: told });
  return { status: withAnnounced(told, next), ...(dueInMs === undefined ? {} : { newsInMs: dueInMs }) };
}

function withAnnounced(status: EnvironmentStatus, announced: EnvironmentStatus["announced"]): EnvironmentStatus {
  const { announced: _, ...others } = status;
  return announced === undefined ? others : { ...others, announced };
}
