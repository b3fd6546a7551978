import type { AuditRecord, AuditTrail } from "../../../../operator/ports/audit-trail.ts";

export interface MemoryAuditTrail extends AuditTrail {
  readonly records: readonly AuditRecord[];
  setWritable(writable: boolean): void;
}

/** In-memory records; fulfils `auditTrailSuite`. */
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
