import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { findCondition } from "../../../crds/conditions.ts";
import { RECONCILE_ANNOTATION } from "../../../crds/group.ts";
import type { Repository } from "../../../crds/repository/repository.ts";
import type { ObjectCache } from "../../kit/cache/object-cache.ts";
import { insteadOf } from "../../kit/client/errors.ts";
import { configMapKind } from "../../kit/client/kinds.ts";
import { retryOnConflict } from "../../kit/client/retries.ts";
import { eachOf } from "../../kit/time/each-of.ts";
import type { Reload, Repositories, RepositoryReloads } from "../../ports/repositories.ts";
import { repositoryType } from "./kinds.ts";
import { isOvertaken, kept, type Store, sameVersion } from "./store.ts";
import { complete, forUser } from "./user-request.ts";

type RepositoryStore = Pick<Store<Repository>, "client" | "cache" | "namespace" | "clock">;

/** Repositories port on the watch cache. */
export function kubernetesRepositories(cache: ObjectCache<Repository>, namespace: string): Repositories {
  return {
    find: (name) => complete(cache).get(`${namespace}/${name}`),
    list: () => complete(cache).list(),
  };
}

const MEMORY = "repository-reload";
const WAIT_MS = 20_000;
const REQUESTS_AT_ONCE = 16;

/** RepositoryReloads port: a reload annotates each Repository, and the leader answers in its status. */
export function kubernetesRepositoryReloads(store: RepositoryStore): RepositoryReloads {
  let underWay: Promise<unknown> = Promise.resolve();
  let next: Promise<Reload> | undefined;
  return {
    reload() {
      // A Repository registered during a reload may miss it: later callers get the next one.
      next ??= underWay.then(() => {
        next = undefined;
        const reloading = forUser(() => reload(store));
        underWay = reloading.catch(() => undefined);
        return reloading;
      });
      return next;
    },
    async request(repository) {
      await forUser(() => requestCheck(repository, store));
    },
  };
}

async function reload(store: RepositoryStore): Promise<Reload> {
  // An incomplete list would make Repositories count as gone, and lose their stored versions.
  const registered = complete(store.cache).list();
  const requested = await eachOf(REQUESTS_AT_ONCE, registered, (repository) => requestCheck(repository, store));
  const before = new Map(requested.flatMap((one) => (one ? [[one.metadata.uid, one]] : [])));
  const isChecked = (repository: Repository) => isCheckedSince(before.get(repository.metadata.uid), repository);
  await answers(store, isChecked);
  return remember(store, isChecked);
}

/**
 * True when it was checked since the request. Any later answer counts: it may be to another replica's request, which
 * replaced ours. A Repository registered since is checked without a request.
 */
function isCheckedSince(atRequest: Repository | undefined, { metadata, status }: Repository): boolean {
  if (atRequest !== undefined) return status?.lastHandledReconcileAt !== atRequest.status?.lastHandledReconcileAt;
  return status?.observedGeneration === metadata.generation && status.lastCheckedAt !== undefined;
}

/** The Repository at the request; `undefined` when it is gone. */
async function requestCheck(
  { metadata }: Repository,
  { client, cache }: RepositoryStore,
): Promise<Repository | undefined> {
  const patch = { metadata: { uid: metadata.uid, annotations: { [RECONCILE_ANNOTATION]: randomUUID() } } };
  const written = client.patch(repositoryType, metadata, patch, { as: "merge" });
  return written.then((repository) => kept(cache, repository), insteadOf(isOvertaken, undefined));
}

/** Resolves when all are checked, or after `WAIT_MS`. A terminating Repository is no longer checked. */
function answers({ cache, clock }: RepositoryStore, isChecked: (repository: Repository) => boolean): Promise<void> {
  const isDone = () => cache.list().every((one) => isChecked(one) || one.metadata.deletionTimestamp !== undefined);
  return new Promise((resolve) => {
    const finish = () => {
      cancel();
      end();
      resolve();
    };
    const cancel = clock.setTimer(WAIT_MS, finish);
    const end = cache.subscribe(() => {
      if (isDone()) finish();
    });
    if (isDone()) finish();
  });
}

/** Compares with the previous reload, and stores the versions for the next. */
function remember(
  { client, cache, namespace }: RepositoryStore,
  isChecked: (repository: Repository) => boolean,
): Promise<Reload> {
  return retryOnConflict(async () => {
    const memory = await client.find(configMapKind, { name: MEMORY, namespace });
    const former = (memory?.data ?? {}) as Marks;
    const standing = cache.list().filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const { reload, marks } = compared(standing, former, isChecked);
    if (memory === undefined)
      await client.create(configMapKind, { metadata: { name: MEMORY, namespace }, data: marks });
    else if (!isDeepStrictEqual(marks, former)) {
      const patch = [sameVersion(memory.metadata), { op: "add", path: "/data", value: marks }];
      await client.patch(configMapKind, memory.metadata, patch, { as: "json" });
    }
    return reload;
  });
}

/** Version of each Repository when it was last ready, by name: changes with its spec. */
type Marks = Readonly<Record<string, string>>;

/**
 * Compares the Repositories with the last reload. An unready one keeps its former version, so a later reload shows its
 * changes. Answers the reload, and the versions for the next one.
 *
 * @param isChecked true when it was checked since the reload was requested
 */
function compared(
  repositories: readonly Repository[],
  former: Marks,
  isChecked: (repository: Repository) => boolean,
): { readonly reload: Reload; readonly marks: Marks } {
  const errors = repositories.flatMap((repository) => {
    const message = isChecked(repository) ? problemOf(repository) : "was not checked in time: try again";
    return message === undefined ? [] : [{ name: repository.metadata.name, message }];
  });
  const ill = new Set(errors.map(({ name }) => name));
  const well = repositories.filter(({ metadata }) => !ill.has(metadata.name));
  const before = new Map(Object.entries(former));
  const registered = new Set(repositories.map(({ metadata }) => metadata.name));
  const names = (isMeant: (mark: string | undefined, repository: Repository) => boolean) =>
    well
      .filter((one) => isMeant(before.get(one.metadata.name), one))
      .map(({ metadata }) => metadata.name)
      .sort();
  const unchanged = [...before].filter(([name]) => ill.has(name));
  return {
    reload: {
      loaded: well.length,
      added: names((mark) => mark === undefined),
      updated: names((mark, repository) => mark !== undefined && mark !== markOf(repository)),
      removed: [...before.keys()].filter((name) => !registered.has(name)).sort(),
      errors: errors.sort((one, other) => (one.name < other.name ? -1 : 1)),
    },
    marks: Object.fromEntries([...unchanged, ...well.map((one) => [one.metadata.name, markOf(one)])]),
  };
}

const markOf = ({ metadata }: Repository) => `${metadata.uid}/${metadata.generation}`;

function problemOf({ status }: Repository): string | undefined {
  const ready = findCondition(status?.conditions, "Ready");
  return ready?.status === "True" ? undefined : (ready?.message ?? "was never checked");
}
