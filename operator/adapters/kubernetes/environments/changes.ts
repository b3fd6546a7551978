import { MINUTE_MS } from "../../../../crds/durations.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { EnvironmentConflict, EnvironmentNotFound } from "../../../../crds/errors.ts";
import {
  LAST_ACTIVITY_ANNOTATION,
  lastActivityOf,
  RECONCILE_ANNOTATION,
  reconcileToken,
} from "../../../../crds/group.ts";
import { insteadOf, isNotFound, isUnavailable } from "../../../kit/client/errors.ts";
import { retryOnConflict } from "../../../kit/client/retries.ts";
import { createKeyedMutex } from "../../../kit/keyed-mutex.ts";
import { elapsedMs } from "../../../kit/time/clock.ts";
import type { Environments, EnvironmentUpdate, RequestedReconcile } from "../../../ports/api/environments.ts";
import { environmentType } from "../kinds.ts";
import { changePatch, isOvertaken, kept, type Store } from "../store.ts";
import { reread } from "./lookup.ts";

/** Dependencies of adapters for environments, which have no namespace. */
export type EnvironmentStore = Omit<Store<EphemeralEnvironment>, "namespace">;

/** A merge into an environment. */
export interface Change {
  /** `null` removes an annotation. */
  readonly annotations?: Readonly<Record<string, string | null>>;
  readonly spec: EnvironmentUpdate & Pick<EnvironmentSpec, "ttlHours">;
  /** Throws when the change must not apply to this version. */
  readonly check?: (current: EphemeralEnvironment) => void;
}

/**
 * Merges changes into existing environments, each on the version that the one before has left. Changes of one
 * environment run one by one: concurrent ones would conflict until their attempts are used up.
 */
export function environmentChanges(store: EnvironmentStore) {
  const mutex = createKeyedMutex();
  return (environment: EphemeralEnvironment, change: Change): Promise<EphemeralEnvironment> =>
    mutex.run(environment.metadata.uid, async (before) => {
      // A change does not queue for an unresponsive API server.
      if (before?.status === "rejected" && isUnavailable(before.reason)) throw before.reason;
      const latest = before?.status === "fulfilled" ? (before.value as EphemeralEnvironment) : environment;
      return patchLatest(store, latest, (current) => {
        if (current.metadata.deletionTimestamp !== undefined)
          throw new EnvironmentConflict("The environment is being deleted");
        change.check?.(current);
        return change;
      });
    });
}

/**
 * Merges the result of `patchOf` into the latest version, stamped with the audit record; answers the unchanged
 * environment without one.
 *
 * @throws EnvironmentNotFound when it is gone
 */
export async function patchLatest(
  store: EnvironmentStore,
  environment: EphemeralEnvironment,
  patchOf: (latest: EphemeralEnvironment) => Partial<Change> | undefined,
): Promise<EphemeralEnvironment> {
  const { client, cache } = store;
  const { name } = environment.metadata;
  return retryOnConflict(async (round) => {
    const current = round === 1 ? environment : await reread(client, environment);
    if (current === undefined) throw new EnvironmentNotFound();
    const patch = patchOf(current);
    if (patch === undefined) return current;
    const { resourceVersion } = current.metadata;
    const metadata = { resourceVersion, annotations: { ...patch.annotations, ...changePatch(store) } };
    const changed = await client
      .patch(environmentType, { name }, { metadata, spec: patch.spec }, { as: "merge" })
      .catch((error: unknown) => {
        throw isNotFound(error) ? new EnvironmentNotFound() : error;
      });
    return kept(cache, changed);
  });
}

/** A record of activity is not repeated within this time, which is shorter than it keeps an environment awake. */
const ACTIVITY_SHARED_MS = 4 * MINUTE_MS;

/** Annotation of a person's look at an environment; `undefined` where a recent one says it. */
export function activityAnnotation(environment: EphemeralEnvironment, now: Date) {
  const last = lastActivityOf(environment, now);
  if (last !== undefined && elapsedMs(last, now) < ACTIVITY_SHARED_MS) return undefined;
  return { [LAST_ACTIVITY_ANNOTATION]: now.toISOString() };
}

/** Writes the annotation; it is no change of the environment, so it has no audit record. */
export async function recordActivity(
  { client, cache, clock }: EnvironmentStore,
  environment: EphemeralEnvironment,
): Promise<void> {
  const { name, uid } = environment.metadata;
  const annotations = activityAnnotation(cache.get(name) ?? environment, clock.now());
  if (annotations === undefined) return;
  const written = client.patch(environmentType, { name }, { metadata: { uid, annotations } }, { as: "merge" });
  // Gone, or another one of its name: the caller's next read says so.
  await written.then((one) => kept(cache, one)).catch(insteadOf(isOvertaken, undefined));
}

/** Requests within this time share one reconcile, so that a flood of them is one write. */
const SHARED_MS = 5_000;

/** Requests reconciles by a token on the resource, and waits for the answering status. */
export function requestedReconciles(store: EnvironmentStore): Environments["reconcile"] {
  const underWay = new Map<string, Promise<string>>();
  return async (environment, { withinMs }) => {
    const { uid } = environment.metadata;
    const requesting = underWay.get(uid) ?? request(store, environment).finally(() => underWay.delete(uid));
    underWay.set(uid, requesting);
    return answerTo(await requesting, environment, { ...store, withinMs });
  };
}

/** Shares a recent token on the resource, or writes a new one. */
async function request(store: EnvironmentStore, environment: EphemeralEnvironment): Promise<string> {
  const { clock } = store;
  let token = "";
  await patchLatest(store, environment, (latest) => {
    const shared = sharedToken(latest, clock.now());
    token = shared ?? clock.now().toISOString();
    return shared === undefined ? { annotations: { [RECONCILE_ANNOTATION]: token } } : undefined;
  });
  return token;
}

/** Token of a recently requested reconcile, answered or not: further requests share it. */
export function sharedToken(environment: EphemeralEnvironment, now: Date): string | undefined {
  const token = reconcileToken(environment);
  // A handwritten token may hold no time, and is not shared.
  return token !== undefined && elapsedMs(new Date(token), now) < SHARED_MS ? token : undefined;
}

function answerTo(
  token: string,
  environment: EphemeralEnvironment,
  { cache, clock, withinMs }: EnvironmentStore & { readonly withinMs: number },
): Promise<RequestedReconcile> {
  const { name, uid } = environment.metadata;
  return new Promise((resolve) => {
    let latest = environment;
    const finish = (state: RequestedReconcile["state"]) => {
      cancel();
      unsubscribe();
      resolve({ state, environment: latest });
    };
    const look = (current: EphemeralEnvironment | undefined) => {
      if (current?.metadata.uid !== uid) return;
      latest = current;
      if (current.status?.lastHandledReconcileAt === token) finish("answered");
    };
    const unsubscribe = cache.subscribe((key, current, previous) => {
      if (key !== name) return;
      if (previous?.metadata.uid === uid && current?.metadata.uid !== uid) finish("gone");
      else look(current);
    });
    const cancel = clock.setTimer(withinMs, () => finish("pending"));
    look(cache.get(name));
  });
}
