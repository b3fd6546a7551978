import type { Settings } from "../../config/settings.ts";
import { createKubeClient } from "../kit/client/create-kube-client.ts";
import type { KubeConfigSource } from "../kit/client/credentials.ts";
import type { KubeClient } from "../kit/client/kube-client.ts";
import { pause, systemClock } from "../kit/time/clock.ts";

const AGAIN_MS = 1_000;

/** Identity and settings for checking an installation. */
export interface Installation {
  readonly client: KubeClient;
  readonly settings: Settings;
}

/** A condition of an installation. */
export interface Check {
  /** The condition, such as `the kinds are served`. */
  readonly name: string;
  /** One entry per checked thing: a problem with its remedy, or `undefined`. Fails when that can't be determined. */
  problems(installation: Installation): Promise<readonly (string | undefined)[]>;
}

/** Options of a run of checks. */
export interface CheckOptions {
  readonly settings: Settings;
  readonly kubeConfig: KubeConfigSource;
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
}

/**
 * Runs the checks one by one and prints each result, with a line per problem; true without problems. A check is repeated
 * until it has no problem or their common deadline has passed: new installations take a moment to reach all API servers.
 */
export async function runChecks(
  checks: readonly Check[],
  { settings, kubeConfig, signal, print }: CheckOptions,
  deadlineMs: number,
): Promise<boolean> {
  const client = createKubeClient({ kubeConfig, connections: 10, userAgent: "ephemeral-environments-check" });
  const endsMs = systemClock.monotonicMs() + deadlineMs;
  let isPassed = true;
  try {
    for (const check of checks) {
      let problems = await problemsOf(check, { client, settings });
      while (problems.length > 0 && systemClock.monotonicMs() < endsMs && !signal.aborted) {
        await pause(systemClock, AGAIN_MS, signal);
        problems = await problemsOf(check, { client, settings });
      }
      isPassed &&= problems.length === 0;
      print(`${problems.length === 0 ? "ok   " : "FAIL "} ${check.name}`);
      for (const problem of problems) print(`      ${problem}`);
    }
    return isPassed;
  } finally {
    await client.close();
  }
}

/** An impossible check has failed. */
async function problemsOf(check: Check, installation: Installation): Promise<readonly string[]> {
  try {
    return (await check.problems(installation)).filter((problem) => problem !== undefined);
  } catch (error) {
    return [`this can't be told: ${(error as Error).message}`];
  }
}
