import {
  type EphemeralEnvironment,
  environmentKind,
  environmentManifest,
} from "../../../crds/environment/ephemeral-environment.ts";
import { COMMIT, type World } from "../../support/fixtures/environment/environment-world.ts";
import { patternOf } from "../operator/copies.ts";

/** The name of each environment of the crowd: all alike, so that one is told from the others by its number alone. */
export const memberName = (index: number) => `crowd-${String(index).padStart(6, "0")}`;

/** Makes so many environments that an operator has brought to `ready`, without what belongs to them: readers read no more. */
export async function makeCrowd(world: World, count: number, owner: string): Promise<void> {
  const operator = await world.startOperator();
  await world.create(memberName(0), {
    ttlHours: 168,
    owner: { subject: owner, email: "dev@example.test", name: "Dev" },
    backend: { repository: "test-backend", branch: "main", commit: COMMIT },
  });
  await world.expectPhase(memberName(0), "ready");
  await world.reconcile(memberName(0));
  await operator.stop();
  const isEnvironment = (key: string) => key.includes(`/${environmentKind.plural}/`);
  const pattern = await patternOf(world.plane.etcdSocket, memberName(0), isEnvironment);
  await pattern.copyTo(Array.from({ length: count - 1 }, (_, index) => memberName(index + 1)));
}

/** What the POST of an environment with a backend alone comes to, as a plain client writes it. */
export const plainEnvironment = (name: string) =>
  environmentManifest(name, {
    ttlHours: 24,
    owner: { subject: "plain#client", email: "plain@example.test", name: "Plain" },
    backend: { repository: "test-backend", branch: "main" },
  });

/** The question of the list, as it is asked of the facade. */
export const LIST_QUERY = "status=ready&search=00&limit=50";

/** The same question answered from all that the API server has: it can neither filter by status nor search. */
export function sameList(environments: readonly EphemeralEnvironment[]): string[] {
  return environments
    .filter(({ metadata, status }) => status?.phase === "ready" && metadata.name.includes("00"))
    .sort((one, other) => other.metadata.creationTimestamp.localeCompare(one.metadata.creationTimestamp))
    .slice(0, 50)
    .map(({ metadata }) => metadata.name);
}
