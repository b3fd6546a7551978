import { apiCheck } from "./api-check.ts";
import { kindsCheck } from "./kinds-check.ts";
import { policiesCheck } from "./policies-check.ts";
import { type ReportOptions, report } from "./report.ts";
import { rightsCheck } from "./rights-check.ts";

const DEADLINE_MS = 60_000;

interface Options extends Omit<ReportOptions, "deadlineMs"> {
  /** Address of the REST interface; absent: not checked. */
  readonly apiUrl?: string | undefined;
  /** Time for problems to pass (default a minute). */
  readonly deadlineMs?: number;
}

/**
 * Checks an installation under the platform's identity: kinds, rights and policies. Writes nothing. True without
 * problems.
 */
export function checkInstallation({ apiUrl, deadlineMs = DEADLINE_MS, ...options }: Options): Promise<boolean> {
  const checks = [kindsCheck, rightsCheck, policiesCheck, ...(apiUrl === undefined ? [] : [apiCheck(apiUrl)])];
  return report(checks, { ...options, deadlineMs });
}
