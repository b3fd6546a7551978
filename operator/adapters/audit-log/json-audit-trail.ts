import type { Log } from "../../kit/log.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { AuditRecord, AuditTrail } from "../../ports/audit-trail.ts";
import { RotatingFile, type RotatingFileOptions } from "./rotating-file.ts";

/** No answer waits longer for a disk. */
const DISK_MS = 1_000;

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
  const inTime = (work: Promise<boolean>) => soon(work, clock);
  return {
    async add(record) {
      const line = lineOf(record, clock.now());
      stream.write(`${line}\n`);
      if (kept !== undefined) found(await inTime(kept.append(line)));
    },
    async isKept() {
      if (kept === undefined) return true;
      const isWritten = await inTime(kept.isReady());
      found(isWritten);
      return isWritten;
    },
    async close() {
      if (kept !== undefined) await inTime(kept.close().then(() => true));
    },
  };
}

/** What the work says, or `false` when it takes too long; it goes on. */
function soon(work: Promise<boolean>, clock: Clock): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const cancel = clock.setTimer(DISK_MS, () => resolve(false));
    work.then(resolve, reject).finally(cancel);
  });
}

const lineOf = (record: AuditRecord, at: Date) => JSON.stringify({ log: "audit", time: at.toISOString(), ...record });
