import type { EnvironmentStatus, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { until } from "../fixtures/until.ts";
import type { ApiService } from "../http/api-service.ts";

/** The environment of that name, once it is made. */
export async function untilMade({ environments }: ApiService, name: string): Promise<EphemeralEnvironment> {
  const named = () => environments.list().find(({ metadata }) => metadata.name === name);
  await until(() => named() !== undefined, { what: `the environment ${name}` });
  return named() as EphemeralEnvironment;
}

/** Writes a status about the environment as it is asked for now, as the operator does. */
export async function writeStatus(service: ApiService, name: string, status: EnvironmentStatus): Promise<void> {
  const found = await untilMade(service, name);
  service.environments.put({
    ...found,
    status: { ...found.status, observedGeneration: found.metadata.generation, ...status },
  });
}

/** Until somebody follows environments. */
export const untilFollowed = ({ environments }: ApiService) =>
  until(() => environments.followers > 0, { what: "a follower" });

/** A condition as the operator writes it. */
export const step = (type: string, status: "True" | "False" | "Unknown", message = "") => ({
  type,
  status,
  message,
  reason: status === "True" ? "Done" : "Waiting",
  lastTransitionTime: "2026-06-01T12:00:00Z",
});

/** The status of an environment that runs. */
export const READY: EnvironmentStatus = {
  phase: "ready",
  conditions: [step("NamespaceReady", "True"), step("Ready", "True")],
};
