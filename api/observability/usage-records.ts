import { createUsageReader, type UsageRecord } from "../../crds/usage/usage-record.ts";
import type { Environments } from "../../operator/ports/api/environments.ts";
import type { History } from "../../operator/ports/records.ts";

interface Used {
  readonly environments: Environments;
  readonly history: History;
}

/**
 * Usage records of all existing and recorded environments: only from resources, so the same at every replica. Read once
 * for each change.
 */
export function createUsageRecords({ environments, history }: Used): () => readonly UsageRecord[] {
  const read = createUsageReader();
  let known: { readonly revision: number; readonly records: readonly UsageRecord[] } | undefined;
  return () => {
    const { revision } = history;
    if (known?.revision !== revision) known = { revision, records: read(environments.list(), history.records()) };
    return known.records;
  };
}
