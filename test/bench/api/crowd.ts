import {
  type EphemeralEnvironment,
  environmentKind,
  environmentManifest,
} from "../../../crds/environment/ephemeral-environment.ts";
import { COMMIT, type World } from "../../support/worlds/environment-world.ts";
import { patternOf } from "../operator/copies.ts";

/** Names of the crowd's environments, which differ by their number alone. */
export const memberName = (index: number) => `crowd-${String(index).padStart(6, "0")}`;

/** Creates that many `ready` environments without their objects, which readers do not read. */
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

/** The manifest that a POST of an environment with a backend alone creates, for a plain client. */
export const plainEnvironment = (name: string) =>
  environmentManifest(name, {
    ttlHours: 24,
    owner: { subject: "plain#client", email: "plain@example.test", name: "Plain" },
    backend: { repository: "test-backend", branch: "main" },
  });

/** The query of the list at the API. */
export const LIST_QUERY = "status=ready&search=00&limit=50";

/** The same query over all environments from the API server, which can neither filter by status nor search. */
export function sameList(environments: readonly EphemeralEnvironment[]): string[] {
  return environments
    .filter(({ metadata, status }) => status?.phase === "ready" && metadata.name.includes("00"))
    .sort((one, other) => other.metadata.creationTimestamp.localeCompare(one.metadata.creationTimestamp))
    .slice(0, 50)
    .map(({ metadata }) => metadata.name);
}
