import type { EnvironmentStatus, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { until } from "../fixtures/until.ts";
import type { ApiService } from "../http/api-service.ts";

export async function untilMade({ environments }: ApiService, name: string): Promise<EphemeralEnvironment> {
  const named = () => environments.list().find(({ metadata }) => metadata.name === name);
  await until(() => named() !== undefined, { what: `the environment ${name}` });
  return named() as EphemeralEnvironment;
}

/** Writes a status for the environment's current spec, as the operator does. */
export async function writeStatus(service: ApiService, name: string, status: EnvironmentStatus): Promise<void> {
  const found = await untilMade(service, name);
  service.environments.put({
    ...found,
    status: { ...found.status, observedGeneration: found.metadata.generation, ...status },
  });
}

export const untilFollowed = ({ environments }: ApiService) =>
  until(() => environments.followers > 0, { what: "a follower" });

export const step = (type: string, status: "True" | "False" | "Unknown", message = "") => ({
  type,
  status,
  message,
  reason: status === "True" ? "Done" : "Waiting",
  lastTransitionTime: "2026-06-01T12:00:00Z",
});

export const READY: EnvironmentStatus = {
  phase: "ready",
  conditions: [step("NamespaceReady", "True"), step("Ready", "True")],
};
