import type { EnvironmentReport } from "../../sdk/index.ts";

/** True while a person or its schedule has the environment asleep. */
export function rests({ suspended, sleep }: Pick<EnvironmentReport, "suspended" | "sleep">): boolean {
  return suspended || sleep?.state === "asleep";
}
