import type { Settings } from "../../config/settings.ts";
import type { KubeClient } from "../kit/client/kube-client.ts";
import { type Clock, pause } from "../kit/time/clock.ts";

const AGAIN_MS = 1_000;

/** Identity and settings for checking an installation. */
export interface Installation {
  readonly client: KubeClient;
  readonly settings: Pick<Settings, "namespace" | "secretsNamespace" | "secretManager" | "deployer">;
}

/** A condition of an installation. */
export interface Check {
  /** The condition, such as `the kinds are served`. */
  readonly name: string;
  /** Problems, each a sentence with a remedy. Fails when they can't be determined. */
  problems(installation: Installation): Promise<readonly string[]>;
}

/** Result of a check. */
export interface CheckResult {
  readonly name: string;
  readonly problems: readonly string[];
}

interface Trying {
  readonly clock: Clock;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

/**
 * Runs the checks one by one, each until it has no problem or their common deadline has passed: new installations take
 * a moment to reach all API servers.
 */
export async function runChecks(
  checks: readonly Check[],
  installation: Installation,
  { clock, deadlineMs, signal }: Trying,
): Promise<CheckResult[]> {
  const endsMs = clock.monotonicMs() + deadlineMs;
  const results: CheckResult[] = [];
  for (const check of checks) {
    let problems = await problemsOf(check, installation);
    while (problems.length > 0 && clock.monotonicMs() < endsMs && !signal.aborted) {
      await pause(clock, AGAIN_MS, signal);
      problems = await problemsOf(check, installation);
    }
    results.push({ name: check.name, problems });
  }
  return results;
}

/** An impossible check has failed. */
async function problemsOf(check: Check, installation: Installation): Promise<readonly string[]> {
  try {
    return await check.problems(installation);
  } catch (error) {
    return [`this can't be told: ${(error as Error).message}`];
  }
}
