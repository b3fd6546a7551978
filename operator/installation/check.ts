import type { Settings } from "../../config/settings.ts";
import { createKubeClient } from "../kit/client/create-kube-client.ts";
import type { KubeConfigSource } from "../kit/client/credentials.ts";
import type { KubeClient } from "../kit/client/kube-client.ts";
import { type Clock, pause, systemClock } from "../kit/time/clock.ts";

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

/** Options of checks and their report. */
export interface ReportOptions {
  readonly settings: Settings;
  readonly kubeConfig: KubeConfigSource;
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
  readonly deadlineMs: number;
}

/** Runs the checks and prints each result, with a line per problem. True without problems. */
export async function report(checks: readonly Check[], options: ReportOptions): Promise<boolean> {
  const { settings, kubeConfig, signal, print, deadlineMs } = options;
  const client = createKubeClient({ kubeConfig, connections: 10, userAgent: "ephemeral-environments-check" });
  try {
    const results = await runChecks(checks, { client, settings }, { clock: systemClock, deadlineMs, signal });
    for (const line of results.flatMap(linesOf)) print(line);
    return results.every(({ problems }) => problems.length === 0);
  } finally {
    await client.close();
  }
}

function linesOf({ name, problems }: CheckResult): string[] {
  if (problems.length === 0) return [`ok    ${name}`];
  return [`FAIL  ${name}`, ...problems.map((problem) => `      ${problem}`)];
}
