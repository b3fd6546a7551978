import type { Settings } from "../../config/settings.ts";
import { jsonAuditTrail } from "../adapters/audit-log/json-audit-trail.ts";
import type { Log } from "../kit/log.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { AuditTrail } from "../ports/audit-trail.ts";

const BYTES_OF_A_MEGABYTE = 1_000_000;

/** Audit trail of the settings: standard output, and a file if named. */
export function createAuditTrail(
  { audit }: Settings,
  parts: { readonly clock: Clock; readonly log: Log },
): AuditTrail & { close(): Promise<void> } {
  const file = audit.file && {
    path: audit.file.path,
    maxBytes: audit.file.maxMegabytes * BYTES_OF_A_MEGABYTE,
    keep: audit.file.keep,
  };
  return jsonAuditTrail({ stream: process.stdout, file, ...parts });
}
