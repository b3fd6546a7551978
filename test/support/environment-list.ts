import type { EphemeralEnvironment } from "../../crds/ephemeral-environment.ts";
import { shownPhase } from "../../crds/phase.ts";
import type { EnvironmentQuery } from "../../operator/ports/environments.ts";

/** Those that match in the order of a list, found in the plainest way: what faster ones are held against. */
export function listed(environments: readonly EphemeralEnvironment[], query: EnvironmentQuery): EphemeralEnvironment[] {
  const { isVisible, phase, search = "", createdFromMs, createdBeforeMs } = query;
  return environments
    .filter((environment) => {
      const createdMs = Date.parse(environment.metadata.creationTimestamp);
      const isMeant = phase === undefined || shownPhase(environment) === phase;
      const isInTime = createdMs >= (createdFromMs ?? -Infinity) && createdMs < (createdBeforeMs ?? Infinity);
      return isVisible(environment.spec) && isMeant && isInTime && environment.metadata.name.includes(search);
    })
    .sort(({ metadata: one }, { metadata: other }) => {
      const apartMs = Date.parse(other.creationTimestamp) - Date.parse(one.creationTimestamp);
      return apartMs === 0 ? (one.name < other.name ? -1 : 1) : apartMs;
    });
}
