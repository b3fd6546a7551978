import type { Log } from "../../kit/log.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { AuditRecord, AuditTrail } from "../../ports/audit-trail.ts";
import { RotatingFile, type RotatingFileOptions } from "./rotating-file.ts";

/** Longest wait of a response for the disk. */
const DISK_MS = 1_000;

export interface JsonAuditTrailOptions {
  /** One line per record, marked by `"log": "audit"`. */
  readonly stream: NodeJS.WritableStream;
  readonly file?: RotatingFileOptions | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** AuditTrail port as lines of JSON. A stream takes everything; only a file can fail. */
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

/** Result of the work, or `false` after `DISK_MS`; the work goes on. */
function soon(work: Promise<boolean>, clock: Clock): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const cancel = clock.setTimer(DISK_MS, () => resolve(false));
    work.then(resolve, reject).finally(cancel);
  });
}

const lineOf = (record: AuditRecord, at: Date) => JSON.stringify({ log: "audit", time: at.toISOString(), ...record });
