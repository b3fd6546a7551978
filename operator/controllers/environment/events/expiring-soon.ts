import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { deletableFrom } from "../../../../crds/environment/lifetime.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { EventRecorder } from "../../../ports/event-recorder.ts";

const SOON_MS = 3_600_000;

/**
 * Publishes once per expiry that it is within the hour. One first seen within it is skipped: the environment is new or
 * changed, or the event preceded a restart. In memory only.
 */
export function createExpiringSoon({ events, clock }: { readonly events: EventRecorder; readonly clock: Clock }) {
  /** By UID, the expiry that was seen while it was further ahead, in milliseconds. */
  const ahead = new Map<string, number>();
  return {
    check(environment: EphemeralEnvironment): void {
      const { uid } = environment.metadata;
      const from = deletableFrom(environment);
      const dueInMs = (from?.getTime() ?? 0) - clock.now().getTime();
      if (from !== undefined && dueInMs > SOON_MS) {
        ahead.set(uid, from.getTime());
        return;
      }
      const isNews = ahead.get(uid) === from?.getTime();
      ahead.delete(uid);
      if (from === undefined || dueInMs <= 0 || !isNews) return;
      const message = `expires at ${from.toISOString()}, and is deleted then unless it is extended or protected`;
      events.publish({ type: "Normal", reason: "ExpiringSoon", action: "Expire", message }, environment.metadata);
    },
    forget: (uid: string) => void ahead.delete(uid),
  };
}
