import type { AuditRecord, AuditTrail } from "../../../../operator/ports/audit-trail.ts";

/** What a test may see and do behind the port. */
export interface MemoryAuditTrail extends AuditTrail {
  readonly records: readonly AuditRecord[];
  setWritable(writable: boolean): void;
}

/** Records that live as long as the object; keeps the promises of the port that `auditTrailSuite` asks of the adapter. */
export function memoryAuditTrail(): MemoryAuditTrail {
  const records: AuditRecord[] = [];
  let waiting: AuditRecord[] = [];
  let isWritable = true;
  const write = () => {
    if (!isWritable) return;
    records.push(...waiting);
    waiting = [];
  };
  return {
    records,
    async add(record) {
      waiting.push(structuredClone(record));
      write();
    },
    async isKept() {
      write();
      return isWritable && waiting.length === 0;
    },
    setWritable(writable) {
      isWritable = writable;
    },
  };
}
