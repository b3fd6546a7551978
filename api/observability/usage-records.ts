import { createLifeReader, type Life } from "../../crds/usage/usage-record.ts";
import type { Environments } from "../../operator/ports/api/environments.ts";
import type { History } from "../../operator/ports/api/history.ts";

interface Used {
  readonly environments: Pick<Environments, "list">;
  readonly history: History;
}

/**
 * Lives of all existing and recorded environments: only from resources, so the same at every replica. Collected once
 * for each change.
 */
export function createLives({ environments, history }: Used): () => readonly Life[] {
  const read = createLifeReader();
  let known: { readonly revision: number; readonly lives: readonly Life[] } | undefined;
  return () => {
    const { revision } = history;
    if (known?.revision !== revision) known = { revision, lives: read(environments.list(), history.records()) };
    return known.lives;
  };
}
