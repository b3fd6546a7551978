import { isDeepStrictEqual } from "node:util";
import { findCondition } from "../../crds/conditions.ts";
import { CONFIG_SET_LABEL } from "../../crds/config-set.ts";
import { type EphemeralEnvironment, hasFinalizer } from "../../crds/environment/ephemeral-environment.ts";
import { ENVIRONMENT_UID_LABEL } from "../../crds/group.ts";
import type { KubeObject } from "../kit/client/objects.ts";
import type { Priority } from "../kit/controller/work-queue.ts";
import { BY_CONFIG_SET, BY_REPOSITORY, BY_UID, type Caches } from "../ports/caches.ts";

type Enqueue = (name: string, priority?: Priority) => void;

/** Turns what changed into the names of the environments that want a pass, and forgets the rest. */
export function enqueueOnChanges(caches: Caches, enqueue: Enqueue): () => void {
  const wake = (environment: EphemeralEnvironment) => enqueue(environment.metadata.name, priorityOf(environment));
  const wakeOwner = (object: KubeObject | undefined) => {
    const uid = object?.metadata.labels?.[ENVIRONMENT_UID_LABEL];
    for (const owner of uid === undefined ? [] : caches.environments.by(BY_UID, uid)) wake(owner);
  };
  const namingSet = (name = "") => caches.environments.by(BY_CONFIG_SET, name);
  // An environment that has its version does not follow the config set.
  const wakeUnsettled = (configSet: string | undefined) => {
    for (const { metadata, status } of namingSet(configSet)) {
      const isSettled = findCondition(status?.conditions, "ConfigurationResolved")?.status === "True";
      if (!isSettled) enqueue(metadata.name);
    }
  };
  const wakeKeepers = (revision: KubeObject | undefined) => {
    const keepers = namingSet(revision?.metadata.labels?.[CONFIG_SET_LABEL]);
    const isKeeper = ({ status }: EphemeralEnvironment) => status?.configSet?.revision === revision?.metadata.name;
    for (const { metadata } of keepers.filter(isKeeper)) enqueue(metadata.name);
  };
  const ends = [
    caches.environments.subscribe((_name, current, previous) => {
      if (current !== undefined && wantsPass(current, previous)) wake(current);
    }),
    caches.repositories.subscribe((_key, current, previous) => {
      // What a check of it found, or that it is deleted, concerns nobody who has it.
      if (
        current?.metadata.uid === previous?.metadata.uid &&
        current?.metadata.generation === previous?.metadata.generation
      )
        return;
      const name = (current ?? previous)?.metadata.name;
      for (const { metadata } of caches.environments.by(BY_REPOSITORY, name ?? "")) enqueue(metadata.name, "low");
    }),
    caches.configSets.subscribe((_key, current, previous) => {
      wakeUnsettled((current ?? previous)?.metadata.name);
    }),
    caches.revisions.subscribe((_key, current, previous) => {
      if (current === undefined) wakeKeepers(previous);
      else if (previous === undefined) wakeUnsettled(current.metadata.labels?.[CONFIG_SET_LABEL]);
    }),
    ...[...caches.children.values()].map((cache) =>
      cache.subscribe((_key, current, previous) => {
        if (concerns(current, previous)) wakeOwner(previous);
      }),
    ),
  ];
  return () => {
    for (const end of ends) end();
  };
}

/** When hundreds leave at once, what somebody waits for comes before their farewells. */
const priorityOf = ({ metadata }: EphemeralEnvironment): Priority =>
  metadata.deletionTimestamp === undefined ? "high" : "low";

/** Our own writes, of the status and of our finalizer, come back as events too; they tell nothing new. */
function wantsPass(current: EphemeralEnvironment, previous: EphemeralEnvironment | undefined): boolean {
  if (previous === undefined || previous.metadata.uid !== current.metadata.uid) return true;
  const isLetGo = hasFinalizer(previous) && !hasFinalizer(current);
  return isLetGo || !isDeepStrictEqual(asked(current), asked(previous));
}

const asked = ({ metadata }: EphemeralEnvironment) => [
  metadata.generation,
  metadata.deletionTimestamp,
  metadata.annotations,
];

/** A child that appears was made by a pass, which knows it; one that changes or goes may need to be repaired. */
function concerns(current: KubeObject | undefined, previous: KubeObject | undefined): boolean {
  if (previous === undefined) return false;
  return current === undefined || !isDeepStrictEqual(withoutVersion(current), withoutVersion(previous));
}

function withoutVersion(object: KubeObject): object {
  const { resourceVersion: _, generation: __, ...metadata } = object.metadata;
  return { ...object, metadata };
}
