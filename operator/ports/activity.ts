import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import type { ObservedActivity } from "../../crds/environment/sleep.ts";

/** Requests to environments, as the platform counts them. */
export interface Activity {
  /** `undefined` while the environment's requests are not known: it must not count as idle. */
  of(environment: Pick<EphemeralEnvironment, "metadata">): ObservedActivity | undefined;
  /** Reason why no requests are known, for users; `undefined` while they are, and in the first minutes of its use. */
  problem(): string | undefined;
}
