import type { EnvironmentStatus, EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import type { Announcer } from "../../../announcements/announcer.ts";

/** Announcements of a reconcile. */
export interface AnnouncementResult {
  readonly announced: EnvironmentStatus["announced"];
  /** Transient: retried with backoff, without stopping other work. */
  readonly error?: unknown;
}

/**
 * Announces stored changes: only those have the same words after a crash.
 *
 * @param begun the environment with the status of the last reconcile, stored or not
 */
export async function tell(
  stored: EphemeralEnvironment,
  begun: EphemeralEnvironment,
  announcer: Announcer | undefined,
): Promise<AnnouncementResult> {
  const announced = begun.status?.announced;
  if (announcer === undefined) return { announced };
  const known = stored.status && { ...stored, status: withAnnounced(stored.status, announced) };
  try {
    return { announced: await announcer.announce(known ?? stored) };
  } catch (error) {
    return { announced: announced ?? unannounced(stored), error };
  }
}

/** Marks a creation whose message failed: its status will no longer show that it is new. */
function unannounced({ metadata, status }: EphemeralEnvironment): EnvironmentStatus["announced"] {
  return status?.observedGeneration === undefined
    ? { event: "unannounced", at: metadata.creationTimestamp }
    : undefined;
}

/** The status with its next announcement, and the time of the one after. */
export function settled(
  environment: EphemeralEnvironment,
  status: EnvironmentStatus,
  { announced, error, announcer }: AnnouncementResult & { readonly announcer: Announcer | undefined },
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
