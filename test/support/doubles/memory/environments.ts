import { randomUUID } from "node:crypto";
import {
  type EnvironmentSpec,
  type EphemeralEnvironment,
  environmentManifest,
} from "../../../../crds/environment/ephemeral-environment.ts";
import {
  answersKey,
  type IdempotencyRecord,
  markAnnotations,
} from "../../../../crds/environment/idempotency-record.ts";
import { expiresAt, isProtected } from "../../../../crds/environment/lifetime.ts";
import { ClusterUnavailable, EnvironmentConflict, EnvironmentNotFound, NameExists } from "../../../../crds/errors.ts";
import { EXTENSION_NOTE_ANNOTATION, FINALIZER, RECONCILE_ANNOTATION, WAKE_ANNOTATION } from "../../../../crds/group.ts";
import { isUuid } from "../../../../crds/names.ts";
import { activityAnnotation, sharedToken } from "../../../../operator/adapters/kubernetes/environments/changes.ts";
import { followedChanges } from "../../../../operator/adapters/kubernetes/environments/environments.ts";
import type { CacheListener } from "../../../../operator/kit/cache/object-cache.ts";
import type { Clock } from "../../../../operator/kit/time/clock.ts";
import type { Environments, Extension } from "../../../../operator/ports/api/environments.ts";
import { listed } from "../../fixtures/environment/environment-list.ts";

const TERMINATING_RETRY_SECONDS = 10;
const UNAVAILABLE_RETRY_SECONDS = 5;

export interface MemoryEnvironments extends Environments {
  /** Stores an environment as another client would. */
  put(environment: EphemeralEnvironment): void;
  /** Ends the deletion of an environment, as the operator's teardown does. */
  finishRemoval(name: string): void;
  /** Switches the operator on (the default) or off: it answers a requested reconcile at once, or never. */
  setOperating(operating: boolean): void;
  /** Keeps followers connected until their signal; by default they are disconnected at once. */
  holdFollowers(): void;
  readonly followers: number;
  setReachable(reachable: boolean): void;
  /** Makes the next call fail with an unexpected error. */
  failNext(error: Error): void;
}

/** Environments without a cluster; fulfils `environmentsSuite`. */
export function memoryEnvironments(clock: Pick<Clock, "now">): MemoryEnvironments {
  const byName = new Map<string, EphemeralEnvironment>();
  let version = 1;
  let isReachable = true;
  let isOperating = true;
  let failure: Error | undefined;

  const listeners = new Set<CacheListener<EphemeralEnvironment>>();
  let isHolding = false;
  const tell = (current: EphemeralEnvironment | undefined, previous: EphemeralEnvironment | undefined) => {
    const { name } = ((current ?? previous) as EphemeralEnvironment).metadata;
    for (const listener of listeners) listener(name, structuredClone(current), structuredClone(previous));
  };
  const reach = () => {
    const error = failure;
    failure = undefined;
    if (error !== undefined) throw error;
    if (!isReachable) throw new ClusterUnavailable(UNAVAILABLE_RETRY_SECONDS);
  };
  const store = (environment: EphemeralEnvironment, metadata: object, more: object = {}): EphemeralEnvironment => {
    version += 1;
    const stored = structuredClone({
      ...environment,
      ...more,
      metadata: { ...environment.metadata, ...metadata, resourceVersion: String(version) },
    });
    const previous = byName.get(stored.metadata.name);
    byName.set(stored.metadata.name, stored);
    tell(stored, previous);
    return structuredClone(stored);
  };
  const current = ({ metadata }: EphemeralEnvironment) => {
    const found = byName.get(metadata.name);
    return found?.metadata.uid === metadata.uid ? found : undefined;
  };

  const change = (environment: EphemeralEnvironment, spec: object, annotations: object = {}) => {
    reach();
    const found = current(environment);
    if (found === undefined) throw new EnvironmentNotFound();
    const { deletionTimestamp, generation } = found.metadata;
    if (deletionTimestamp !== undefined) throw new EnvironmentConflict("The environment is being deleted");
    const merged = Object.entries({ ...found.metadata.annotations, ...annotations });
    const left = Object.fromEntries(merged.filter(([, value]) => value !== null));
    const metadata = { annotations: left, generation: generation + 1 };
    return store(found, metadata, { spec: mergedPatch(found.spec, spec) });
  };

  const madeBefore = (holder: EphemeralEnvironment, mark: IdempotencyRecord | undefined) => {
    if (mark !== undefined && answersKey(holder, mark.key, clock.now())) return holder;
    const { name, deletionTimestamp } = holder.metadata;
    throw new NameExists(name, deletionTimestamp === undefined ? undefined : TERMINATING_RETRY_SECONDS);
  };

  return {
    async find(idOrName) {
      reach();
      const found = isUuid(idOrName)
        ? [...byName.values()].find(({ metadata }) => metadata.uid === idOrName)
        : byName.get(idOrName);
      return structuredClone(found);
    },

    list: () => [...byName.values()],

    page: (query) => listed([...byName.values()], query),

    async countNow(isMeant) {
      reach();
      return [...byName.values()].filter(isMeant).length;
    },

    madeWith: (key) => structuredClone([...byName.values()].find((one) => answersKey(one, key, clock.now()))),

    async create(name: string, spec: EnvironmentSpec, mark?: IdempotencyRecord) {
      reach();
      const holder = byName.get(name);
      if (holder !== undefined) return structuredClone(madeBefore(holder, mark));
      const creationTimestamp = kubernetesTime(clock.now());
      const metadata = { name, uid: randomUUID(), resourceVersion: "", generation: 1, creationTimestamp };
      const annotations = mark === undefined ? {} : { annotations: markAnnotations(mark) };
      return store({ ...environmentManifest(name, spec), metadata }, { finalizers: [FINALIZER], ...annotations });
    },

    async reread(environment) {
      reach();
      return structuredClone(current(environment));
    },

    async extend(environment: EphemeralEnvironment, { ttlHours, note, onlyFrom }: Extension) {
      const found = current(environment);
      if (found !== undefined && onlyFrom !== undefined && +expiresAt(found) !== +onlyFrom) {
        throw new EnvironmentConflict("The environment's TTL was changed meanwhile");
      }
      return change(environment, { ttlHours }, { [EXTENSION_NOTE_ANNOTATION]: note ?? null });
    },

    async update(environment, update) {
      const waking = { [WAKE_ANNOTATION]: clock.now().toISOString() };
      return change(environment, update, update.suspended === false ? waking : {});
    },

    async recordActivity(environment) {
      reach();
      const found = current(environment);
      const annotations = found && activityAnnotation(found, clock.now());
      if (found !== undefined && annotations !== undefined)
        store(found, { annotations: { ...found.metadata.annotations, ...annotations } });
    },

    async reconcile(environment) {
      reach();
      const found = current(environment);
      if (found === undefined) throw new EnvironmentNotFound();
      const shared = sharedToken(found, clock.now());
      const token = shared ?? clock.now().toISOString();
      const annotations = { ...found.metadata.annotations, [RECONCILE_ANNOTATION]: token };
      const requested = shared === undefined ? store(found, { annotations }) : structuredClone(found);
      if (!isOperating) return { state: "pending", environment: requested };
      const status = { ...found.status, lastHandledReconcileAt: token };
      return { state: "answered", environment: store(requested, {}, { status }) };
    },

    async remove(environment, options) {
      reach();
      const found = current(environment);
      const isSame = found?.metadata.resourceVersion === environment.metadata.resourceVersion;
      if (options?.onlyThisVersion && !isSame) return "changed";
      if (found === undefined || found.metadata.deletionTimestamp !== undefined) return "removing";
      const { protectedUntil: _, ...spec } = found.spec;
      const lifted = options?.liftsProtection ? { ...found, spec } : found;
      if (isProtected(lifted)) throw new EnvironmentConflict("The environment is protected");
      store(lifted, { deletionTimestamp: kubernetesTime(clock.now()) });
      return "removing";
    },

    put: (environment) => void store(environment, {}),
    changes(requested) {
      const subscribe = (listener: CacheListener<EphemeralEnvironment>) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      };
      return followedChanges({ subscribe }, isHolding ? requested : AbortSignal.abort());
    },

    finishRemoval(name) {
      const previous = byName.get(name);
      if (byName.delete(name)) tell(undefined, previous);
    },
    holdFollowers: () => {
      isHolding = true;
    },
    get followers() {
      return listeners.size;
    },
    setOperating: (operating) => {
      isOperating = operating;
    },
    setReachable: (reachable) => {
      isReachable = reachable;
    },
    failNext: (error) => {
      failure = error;
    },
  };
}

function mergedPatch(target: object, patch: object): object {
  const merged: Record<string, unknown> = { ...target };
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete merged[field];
    else if (typeof value === "object" && !Array.isArray(value))
      merged[field] = mergedPatch((merged[field] ?? {}) as object, value);
    else if (value !== undefined) merged[field] = value;
  }
  return merged;
}

/** The API server's timestamps have whole seconds. */
export function kubernetesTime(moment: Date): string {
  return `${moment.toISOString().slice(0, 19)}Z`;
}
