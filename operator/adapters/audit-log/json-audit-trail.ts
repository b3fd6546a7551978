import type { Log } from "../../kit/log.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { AuditRecord, AuditTrail } from "../../ports/audit-trail.ts";
import { RotatingFile, type RotatingFileOptions } from "./rotating-file.ts";

/** Longest wait of a response for the disk. */
const DISK_MS = 1_000;

interface JsonAuditTrailOptions {
  /** One line per record, marked by `"log": "audit"`. */
  readonly stream: NodeJS.WritableStream;
  readonly file?: RotatingFileOptions | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** AuditTrail port as lines of JSON. A stream takes everything; only a file can fail. */
export function jsonAuditTrail(options: JsonAuditTrailOptions): AuditTrail & { close(): Promise<void> } {
  const { stream, file, clock, log } = options;
  const lines = file && new RotatingFile(file);
  let isBehind = false;
  const report = (isWritten: boolean) => {
    if (isWritten !== isBehind) return;
    isBehind = !isWritten;
    if (isBehind) log.error("the audit file can't be written: what is privileged is refused", { file: file?.path });
    else log.info("the audit file is written again", { file: file?.path });
  };
  return {
    async add(record) {
      const line = lineOf(record, clock.now());
      stream.write(`${line}\n`);
      if (lines !== undefined) report(await soon(lines.append(line), clock));
    },
    async isKept() {
      if (lines === undefined) return true;
      const isWritten = await soon(lines.isReady(), clock);
      report(isWritten);
      return isWritten;
    },
    async close() {
      const closed = lines?.close().then(() => true);
      if (closed !== undefined) await soon(closed, clock);
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
