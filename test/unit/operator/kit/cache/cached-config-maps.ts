import { beforeEach } from "@jest/globals";
import { createObjectCache } from "../../../../../operator/kit/cache/indexed-cache.ts";
import type { CacheFeed, ObjectCache } from "../../../../../operator/kit/cache/object-cache.ts";
import { keyOf } from "../../../../../operator/kit/client/objects.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import type { ConfigMap } from "../../../../support/fixtures/config-maps.ts";

const newestOf = (items: readonly ConfigMap[]) =>
  String(Math.max(0, ...items.map(({ metadata }) => Number(metadata.resourceVersion))));
/** Complete as of that version. */
export const listed = (items: readonly ConfigMap[], resourceVersion = newestOf(items)) => ({
  items: new Map(items.map((item) => [keyOf(item), item])),
  resourceVersion,
});

/** A cache of ConfigMaps, empty before each test, and the changes for its subscriber. */
export function cachedConfigMaps() {
  let clock: TestClock;
  let cache: ObjectCache<ConfigMap> & CacheFeed<ConfigMap>;
  let changes: string[];

  const versionOf = (name: string) => cache.get(`ns/${name}`)?.metadata.resourceVersion;
  const replace = (...items: readonly ConfigMap[]) => cache.replace(listed(items), cache.beginList());

  beforeEach(() => {
    clock = new TestClock();
    cache = createObjectCache<ConfigMap>({ clock });
    changes = [];
    cache.subscribe((key, current, previous) => {
      changes.push(
        `${key}: ${previous?.metadata.resourceVersion ?? "none"} -> ${current?.metadata.resourceVersion ?? "none"}`,
      );
    });
  });

  return {
    get clock() {
      return clock;
    },
    get cache() {
      return cache;
    },
    set cache(value) {
      cache = value;
    },
    get changes() {
      return changes;
    },
    versionOf,
    replace,
  };
}
