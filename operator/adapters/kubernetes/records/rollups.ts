import { GROUP } from "../../../../crds/group.ts";
import { oncePer } from "../../../../crds/once-per.ts";
import type { ObjectCache } from "../../../kit/cache/object-cache.ts";
import { insteadOf, isAlreadyExists, isConflict, isNotFound } from "../../../kit/client/errors.ts";
import { configMapKind, type WireObject } from "../../../kit/client/kinds.ts";
import type { KubeClient } from "../../../kit/client/kube-client.ts";
import type { Rollups } from "../../../ports/facade/rollups.ts";
import type { RollupContent, RollupStore, StoredRollup } from "../../../ports/observability/rollups.ts";
import { readCounts, writtenCounts } from "./stored-counts.ts";
import { readSummary, writtenSummary } from "./stored-summary.ts";

/** Label with a rollup's day, in UTC. */
export const ROLLUP_LABEL = `${GROUP}/rollup`;
/** The admission policies let the platform change ConfigMaps of its namespace only below this name. */
const NAME_PREFIX = "rollup-";
const COUNTS = "counts.json";
const SUMMARY = "summary.json";

interface Context {
  readonly client: KubeClient;
  readonly namespace: string;
}

/** RollupStore port: one ConfigMap a day, in the platform's namespace. */
export function kubernetesRollupStore({ client, namespace }: Context): RollupStore {
  const draft = (day: string, content: RollupContent, resourceVersion?: string) => ({
    metadata: {
      name: `${NAME_PREFIX}${day}`,
      namespace,
      labels: { [ROLLUP_LABEL]: day },
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
    data: {
      [COUNTS]: writtenCounts(content),
      ...(content.summary !== undefined && { [SUMMARY]: writtenSummary(content.summary) }),
    },
  });
  const isChanged = (error: unknown) => isConflict(error) || isNotFound(error);
  return {
    async find(day) {
      const found = await client.find(configMapKind, { name: `${NAME_PREFIX}${day}`, namespace });
      return found && storedRollup(found);
    },
    create: (day, content) =>
      client.create(configMapKind, draft(day, content)).then(() => true, insteadOf(isAlreadyExists, false)),
    replace: ({ day, version }, content) =>
      client.replace(configMapKind, draft(day, content, version)).then(() => true, insteadOf(isChanged, false)),
    async list(signal) {
      const { items } = await client.list(configMapKind, { namespace, labelSelector: ROLLUP_LABEL, signal });
      return items.map(storedRollup);
    },
    async remove({ day, version: resourceVersion }) {
      const ref = { name: `${NAME_PREFIX}${day}`, namespace };
      await client.delete(configMapKind, ref, { resourceVersion }).catch(insteadOf(isConflict, undefined));
    },
  };
}

/** Rollups port of the API, on this process's watch cache; each version of a rollup is parsed once, on use. */
export function watchedRollupDays(cache: Pick<ObjectCache<WireObject>, "list" | "subscribe">): Rollups {
  let summaryRevision = 0;
  cache.subscribe((_key, current, previous) => {
    if (dataOf(current)[SUMMARY] !== dataOf(previous)[SUMMARY]) summaryRevision += 1;
  });
  const read = oncePer(storedRollup);
  const dayOf = oncePer((configMap: WireObject) => ({
    day: configMap.metadata.name.slice(NAME_PREFIX.length),
    get slots() {
      return read(configMap).slots;
    },
    get summary() {
      return read(configMap).summary;
    },
  }));
  return {
    days: () => cache.list().map((configMap) => dayOf(configMap)),
    get summaryRevision() {
      return summaryRevision;
    },
  };
}

/** Unreadable content counts as nothing: it must not block the next counts. */
function storedRollup(configMap: WireObject): StoredRollup {
  const { metadata } = configMap;
  const day = metadata.name.slice(NAME_PREFIX.length);
  const data = dataOf(configMap);
  const counts = orNothing(() => readCounts(data[COUNTS]));
  const summary = orNothing(() => readSummary(data[SUMMARY]));
  return { slots: {}, writers: {}, ...counts, summary, day, version: metadata.resourceVersion };
}

function dataOf(configMap: WireObject | undefined): Readonly<Record<string, string>> {
  return (configMap as { readonly data?: Readonly<Record<string, string>> } | undefined)?.data ?? {};
}

function orNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
