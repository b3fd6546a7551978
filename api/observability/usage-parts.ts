import { createUsageParts, type UsagePart } from "../../crds/usage/usage-parts.ts";
import type { Environments } from "../../operator/ports/api/environments.ts";
import type { History } from "../../operator/ports/records.ts";

interface Used {
  readonly environments: Environments;
  readonly history: History;
}

/**
 * Usage of all existing and recorded environments: only from resources, so the same at every replica. Read once for each
 * change; a part without one stays the same list.
 */
export function watchedUsageParts({ environments, history }: Used): () => readonly UsagePart[] {
  const read = createUsageParts();
  let known: { readonly revision: number; readonly parts: readonly UsagePart[] } | undefined;
  return () => {
    const { revision } = history;
    if (known?.revision !== revision) {
      known = { revision, parts: read(environments.list(), history.records()) };
    }
    return known.parts;
  };
}
