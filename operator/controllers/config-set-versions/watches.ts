import { isDeepStrictEqual } from "node:util";
import { CONFIG_SET_LABEL } from "../../../crds/config-set.ts";
import { type Enqueue, endOf } from "../../kit/controller/controller.ts";
import type { Caches } from "../../ports/caches.ts";

/** Enqueues the revisions that may be unused after a change. */
export function enqueueOnDisuse({ environments, revisions }: Caches, enqueue: Enqueue): () => void {
  const revisionsOf = ({ name, version }: { name: string; version?: number }) =>
    revisions
      .list()
      .filter(({ metadata, revision }) => revision === version && metadata.labels?.[CONFIG_SET_LABEL] === name);
  return endOf([
    environments.subscribe((_name, current, previous) => {
      const former = previous?.status?.configSet?.revision;
      if (former !== undefined && current?.status?.configSet?.revision !== former) enqueue(former, "low");
      // A version that was requested and never resolved is in no status.
      const requested = previous?.spec.configSet;
      if (requested?.version === undefined || isDeepStrictEqual(requested, current?.spec.configSet)) return;
      for (const { metadata } of revisionsOf(requested)) enqueue(metadata.name, "low");
    }),
    // The operator that stored it may have crashed before a status named it.
    revisions.subscribe((_key, current, previous) => {
      if (current !== undefined && previous === undefined) enqueue(current.metadata.name, "low");
    }),
  ]);
}
