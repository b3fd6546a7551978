import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";
import { RotatingFile, type RotatingFileOptions } from "../kit/rotating-file.ts";
import type { AuditRecord, AuditTrail } from "../ports/audit-trail.ts";

/** Where records go. */
export interface JsonAuditTrailOptions {
  /** One line a record, told from log lines by `"log": "audit"`. */
  readonly stream: NodeJS.WritableStream;
  /** A file that has them too. */
  readonly file?: RotatingFileOptions | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** The AuditTrail port as lines of JSON. A stream takes everything; only a file can fail to keep a record. */
export function jsonAuditTrail({
  stream,
  file,
  clock,
  log,
}: JsonAuditTrailOptions): AuditTrail & { close(): Promise<void> } {
  const kept = file && new RotatingFile(file);
  let isBehind = false;
  const found = (isWritten: boolean) => {
    if (isWritten !== isBehind) return;
    isBehind = !isWritten;
    if (isBehind) log.error("the audit file can't be written: what is privileged is refused", { file: file?.path });
    else log.info("the audit file is written again", { file: file?.path });
  };
  return {
    async add(record) {
      const line = lineOf(record, clock.now());
      stream.write(`${line}\n`);
      if (kept !== undefined) found(await kept.append(line));
    },
    async isKept() {
      if (kept === undefined) return true;
      const isWritten = await kept.isReady();
      found(isWritten);
      return isWritten;
    },
    close: async () => kept?.close(),
  };
}

const lineOf = (record: AuditRecord, at: Date) => JSON.stringify({ log: "audit", time: at.toISOString(), ...record });
