import type { EphemeralEnvironment } from "../../crds/ephemeral-environment.ts";
import { shownPhase } from "../../crds/phase.ts";
import type { EnvironmentPage, EnvironmentQuery } from "../../operator/ports/environments.ts";

/** A page of a list, found in the plainest way: what faster ones are held against. */
export function listed(environments: readonly EphemeralEnvironment[], query: EnvironmentQuery): EnvironmentPage {
  const { isVisible, phase, search = "", createdFromMs, createdBeforeMs, offset = 0, limit = Infinity } = query;
  const matching = environments
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
  return { items: matching.slice(offset, offset + limit), total: matching.length };
}
