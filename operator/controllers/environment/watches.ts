import { isDeepStrictEqual } from "node:util";
import { findCondition } from "../../../crds/conditions.ts";
import { CONFIG_SET_LABEL } from "../../../crds/config-set.ts";
import { pendingCopySource } from "../../../crds/environment/database-copy.ts";
import { type EphemeralEnvironment, hasFinalizer } from "../../../crds/environment/ephemeral-environment.ts";
import { ENVIRONMENT_UID_LABEL } from "../../../crds/group.ts";
import type { KubeObject } from "../../kit/client/objects.ts";
import { type Enqueue, endOf } from "../../kit/controller/controller.ts";
import { BY_CONFIG_SET, BY_COPY_SOURCE, BY_REPOSITORY, BY_UID, type Caches } from "../../ports/caches.ts";

/** Enqueues the environments affected by a change; returns the unsubscribe function. */
export function enqueueOnChanges(caches: Caches, enqueue: Enqueue): () => void {
  // In mass deletions, users' changes come first.
  const enqueueOne = ({ metadata }: EphemeralEnvironment) =>
    enqueue(metadata.name, metadata.deletionTimestamp === undefined ? "high" : "low");
  const enqueueOwner = (object: KubeObject | undefined) => {
    const uid = object?.metadata.labels?.[ENVIRONMENT_UID_LABEL];
    for (const owner of uid === undefined ? [] : caches.environments.by(BY_UID, uid)) enqueueOne(owner);
  };
  const usersOf = (configSet = "") => caches.environments.by(BY_CONFIG_SET, configSet);
  // An environment with a resolved version does not follow the config set.
  const enqueueUnresolved = (configSet: string | undefined) => {
    for (const { metadata, status } of usersOf(configSet)) {
      const isResolved = findCondition(status?.conditions, "ConfigurationResolved")?.status === "True";
      if (!isResolved) enqueue(metadata.name);
    }
  };
  const enqueueUsers = (revision: KubeObject) => {
    for (const { metadata, status } of usersOf(revision.metadata.labels?.[CONFIG_SET_LABEL])) {
      if (status?.configSet?.revision === revision.metadata.name) enqueue(metadata.name);
    }
  };
  return endOf([
    caches.environments.subscribe((_name, current, previous) => {
      if (current !== undefined && isRelevant(current, previous)) enqueueOne(current);
      for (const affected of otherEndsOfCopies(caches, current, previous)) enqueue(affected);
    }),
    caches.repositories.subscribe((_key, current, previous) => {
      // A Repository's status and deletion do not affect its environments.
      if (
        current?.metadata.uid === previous?.metadata.uid &&
        current?.metadata.generation === previous?.metadata.generation
      )
        return;
      const name = (current ?? previous)?.metadata.name;
      for (const { metadata } of caches.environments.by(BY_REPOSITORY, name ?? "")) enqueue(metadata.name, "low");
    }),
    caches.configSets.subscribe((_key, current, previous) => {
      enqueueUnresolved((current ?? previous)?.metadata.name);
    }),
    caches.revisions.subscribe((_key, current, previous) => {
      if (current === undefined) {
        if (previous !== undefined) enqueueUsers(previous);
      } else if (previous === undefined) enqueueUnresolved(current.metadata.labels?.[CONFIG_SET_LABEL]);
    }),
    ...[...caches.children.values()].map((cache) =>
      cache.subscribe((_key, current, previous) => {
        if (isRelevantChild(current, previous)) enqueueOwner(previous);
      }),
    ),
  ]);
}

/** Environments at the other end of a copy: it waits for its source, which lets it in, and out again. */
function otherEndsOfCopies(
  { environments }: Caches,
  current: EphemeralEnvironment | undefined,
  previous: EphemeralEnvironment | undefined,
): readonly string[] {
  const changed = [current, previous].filter((one) => one !== undefined);
  const copies = changed.slice(0, 1).flatMap(({ metadata }) => environments.by(BY_COPY_SOURCE, metadata.name));
  const [source, former] = [current, previous].map((one) => one && pendingCopySource(one));
  const isSame = source === former && current?.metadata.uid === previous?.metadata.uid;
  const sources = isSame ? [] : [source, former].filter((name) => name !== undefined);
  return [...copies.map(({ metadata }) => metadata.name), ...sources];
}

/** Events of our own writes, of status and finalizer, are irrelevant. */
function isRelevant(current: EphemeralEnvironment, previous: EphemeralEnvironment | undefined): boolean {
  if (previous === undefined || previous.metadata.uid !== current.metadata.uid) return true;
  const isFinalized = hasFinalizer(previous) && !hasFinalizer(current);
  return isFinalized || !isDeepStrictEqual(requestOf(current), requestOf(previous));
}

const requestOf = ({ metadata }: EphemeralEnvironment) => [
  metadata.generation,
  metadata.deletionTimestamp,
  metadata.annotations,
];

/** A new child comes from a reconcile; a changed or missing one may need a repair. */
function isRelevantChild(current: KubeObject | undefined, previous: KubeObject | undefined): boolean {
  if (previous === undefined) return false;
  return current === undefined || !isDeepStrictEqual(withoutVersion(current), withoutVersion(previous));
}

function withoutVersion(object: KubeObject): object {
  const { resourceVersion: _, generation: __, ...metadata } = object.metadata;
  return { ...object, metadata };
}
