import type { Settings } from "../../config/settings.ts";
import type { KubeClient } from "../kit/client/kube-client.ts";
import { type Clock, pause } from "../kit/time/clock.ts";

const AGAIN_MS = 1_000;

/** What an installation is looked at with: the platform's own identity and settings. */
export interface Installation {
  readonly client: KubeClient;
  readonly settings: Pick<Settings, "namespace" | "secretsNamespace" | "secretManager" | "deployer">;
}

/** One thing that an installation must have. */
export interface Check {
  /** What holds where there is no problem: `the kinds are served`. */
  readonly name: string;
  /** What is wrong, each in a sentence that says what to do; empty when all is well. Fails when it can't be told. */
  problems(installation: Installation): Promise<readonly string[]>;
}

/** How a check ended. */
export interface CheckResult {
  readonly name: string;
  readonly problems: readonly string[];
}

interface Trying {
  readonly clock: Clock;
  /** How long what is wrong may still become right. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

/**
 * Tries the checks one after the other, each again until it finds nothing wrong or the deadline, which they share, has
 * passed: what was just installed takes a moment until all API servers know it.
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

/** A check that can't be made has failed. */
async function problemsOf(check: Check, installation: Installation): Promise<readonly string[]> {
  try {
    return await check.problems(installation);
  } catch (error) {
    return [`this can't be told: ${(error as Error).message}`];
  }
}
