import { type Condition, INFORMATIONAL_CONDITIONS } from "../../crds/conditions.ts";
import { waitUntil } from "../build/wait.ts";
import type { ApiClient } from "./kubernetes/api-client.ts";

/** The number of conditions of a ready environment: those of its steps, and `Ready`. */
const CONDITIONS = 9;
const OTHERS: readonly string[] = INFORMATIONAL_CONDITIONS;
const READY_DEADLINE_MS = 120_000;

/**
 * Waits until the environment is ready, and prints its conditions as they become true, as in `kubectl describe`. Fails with
 * the condition that is in the way.
 *
 * @param began by `performance.now()`, the origin of the printed seconds
 */
export async function untilEnvironmentReady(
  client: Pick<ApiClient, "find">,
  name: string,
  began: number,
): Promise<void> {
  const shown = new Set<string>();
  let last: Condition | undefined;
  const check = async () => {
    const found = await client.find(`/apis/ephemeral-environments.dev/v1/ephemeralenvironments/${name}`);
    const { conditions = [] } = (found?.status ?? {}) as { conditions?: Condition[] };
    last = conditions.find(({ type }) => type === "Ready");
    const met = conditions.filter(({ status, type }) => status === "True" && !OTHERS.includes(type));
    for (const { type } of met.filter((one) => !shown.has(one.type))) {
      shown.add(type);
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      console.error(`  ${shown.size}/${CONDITIONS} ${type.padEnd(22)} ${seconds} s`);
    }
    return last?.status === "True";
  };
  try {
    await waitUntil({ what: `environment '${name}' to be ready`, check, deadlineMs: READY_DEADLINE_MS });
  } catch (cause) {
    const because = last ? `${last.reason}: ${last.message}` : "it has no status: is the operator running?";
    throw new Error(
      `Environment '${name}' is not ready. ${because}\nSee the operator's log: .local/cluster/log/operator.log, or kubectl logs.`,
      { cause },
    );
  }
}
