import type { Settings } from "../../config/settings.ts";
import { createKubeClient } from "../kit/client/create-kube-client.ts";
import type { KubeConfigSource } from "../kit/client/credentials/credentials.ts";
import { systemClock } from "../kit/time/clock.ts";
import { type Check, type CheckResult, runChecks } from "./check.ts";

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
