import type { Settings } from "../../config/settings.ts";
import { createKubeClient } from "../kit/client/create-kube-client.ts";
import type { KubeConfigSource } from "../kit/client/credentials/credentials.ts";
import { systemClock } from "../kit/time/clock.ts";
import { apiCheck } from "./api-check.ts";
import { type CheckResult, runChecks } from "./check.ts";
import { kindsCheck } from "./kinds-check.ts";
import { policiesCheck } from "./policies-check.ts";
import { rightsCheck } from "./rights-check.ts";

const DEADLINE_MS = 60_000;

interface Options {
  readonly settings: Settings;
  readonly kubeConfig: KubeConfigSource;
  /** Where the REST interface should answer; without it, it is not asked. */
  readonly apiUrl?: string | undefined;
  readonly signal: AbortSignal;
  /** Takes each line of the report. */
  readonly print: (line: string) => void;
  /** How long what is wrong may still become right (default a minute). */
  readonly deadlineMs?: number;
}

/**
 * Says of an installation, under the identity that the platform has, whether its kinds are served, its rights sufficient and
 * its policies in force. Writes nothing. True when all is well.
 */
export async function checkInstallation(options: Options): Promise<boolean> {
  const { settings, kubeConfig, apiUrl, signal, print, deadlineMs = DEADLINE_MS } = options;
  const client = createKubeClient({ kubeConfig, connections: 10, userAgent: "ephemeral-environments-check" });
  const checks = [kindsCheck, rightsCheck, policiesCheck, ...(apiUrl === undefined ? [] : [apiCheck(apiUrl)])];
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
