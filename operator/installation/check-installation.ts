import { apiCheck } from "./api-check.ts";
import { kindsCheck } from "./kinds-check.ts";
import { policiesCheck } from "./policies-check.ts";
import { type ReportOptions, report } from "./report.ts";
import { rightsCheck } from "./rights-check.ts";

const DEADLINE_MS = 60_000;

interface Options extends Omit<ReportOptions, "deadlineMs"> {
  /** Where the REST interface should answer; without it, it is not asked. */
  readonly apiUrl?: string | undefined;
  /** How long what is wrong may still become right (default a minute). */
  readonly deadlineMs?: number;
}

/**
 * Says of an installation, under the identity that the platform has, whether its kinds are served, its rights sufficient and
 * its policies in force. Writes nothing. True when all is well.
 */
export function checkInstallation({ apiUrl, deadlineMs = DEADLINE_MS, ...options }: Options): Promise<boolean> {
  const checks = [kindsCheck, rightsCheck, policiesCheck, ...(apiUrl === undefined ? [] : [apiCheck(apiUrl)])];
  return report(checks, { ...options, deadlineMs });
}
