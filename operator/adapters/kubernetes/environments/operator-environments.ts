import { type EphemeralEnvironment, environmentManifest } from "../../../../crds/environment/ephemeral-environment.ts";
import { isProtected } from "../../../../crds/environment/lifetime.ts";
import { mayReturn } from "../../../../crds/environment/managed-by.ts";
import { CreationFailed, EnvironmentConflict, EnvironmentNotFound } from "../../../../crds/errors.ts";
import { DELETION_CAUSE_ANNOTATION, DELETION_TRACEPARENT_ANNOTATION } from "../../../../crds/group.ts";
import {
  insteadOf,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  type KubeError,
} from "../../../kit/client/errors.ts";
import type { KubeClient } from "../../../kit/client/kube-client.ts";
import { retryOnConflict } from "../../../kit/client/retries.ts";
import {
  type DecidedWrites,
  type OperatorEnvironments,
  type RemovalOptions,
  RemovalRefused,
} from "../../../ports/environments.ts";
import { environmentType } from "../kinds.ts";
import { changeAnnotations, changePatch, isOvertaken, kept, keptRest } from "../store.ts";
import { complete, forUser } from "../user-request.ts";
import { type Change, type EnvironmentStore, patchLatest } from "./changes.ts";
import { reread } from "./lookup.ts";

/** OperatorEnvironments port on the Kubernetes API and the watch cache. */
export function operatorEnvironments(store: EnvironmentStore): OperatorEnvironments {
  const { client, cache } = store;
  return {
    list: () => complete(cache).list(),
    countNow: (isMeant) => forUser(() => countNow(client, isMeant)),
    reread: (environment) => forUser(() => reread(client, environment)),
    remove: (environment, options = {}) =>
      forUser(async () => {
        const latest = await withNotes(store, environment, options);
        return latest === "changed" ? latest : remove(store, latest, options);
      }),
  };
}

/** DecidedWrites port on the Kubernetes API and the watch cache. */
export function decidedWrites(store: EnvironmentStore): DecidedWrites {
  const { client, cache, traceparent } = store;
  const { remove: removeNow } = operatorEnvironments(store);
  return {
    findNow: (name) => forUser(() => client.find(environmentType, { name })),
    create: (name, spec, auditId, annotations) =>
      forUser(async () => {
        const stamps = changeAnnotations({ auditId: () => auditId, traceparent });
        const manifest = environmentManifest(name, spec, { ...annotations, ...stamps });
        return client.create(environmentType, manifest).then(
          (created) => kept(cache, created),
          (error: unknown) => {
            if (isAlreadyExists(error)) return "changed";
            throw isForbidden(error) ? new CreationFailed({ cause: error }) : error;
          },
        );
      }),
    revise: ({ metadata }, spec, auditId, annotations) =>
      forUser(() => {
        const { name, uid, resourceVersion } = metadata;
        const stamped = { ...annotations, ...changePatch({ auditId: () => auditId, traceparent }) };
        const patch = { metadata: { uid, resourceVersion, annotations: stamped }, spec };
        return client
          .patch(environmentType, { name }, patch, { as: "merge" })
          .then((revised) => kept(cache, revised), insteadOf(isOvertaken, "changed"));
      }),
    remove: (environment) => removeNow(environment, { onlyThisVersion: true }),
  };
}

/** Count of matching environments, by a fresh list. Keeps no objects, because a list may restart. */
async function countNow(client: KubeClient, isMeant: (environment: EphemeralEnvironment) => boolean): Promise<number> {
  const [meant, other] = [{}, {}] as [EphemeralEnvironment, EphemeralEnvironment];
  const { items } = await client.list(environmentType, { keep: (one) => (isMeant(one) ? meant : other) });
  return items.filter((item) => item === meant).length;
}

/**
 * Writes the deletion's cause, if the record needs it, and its span on the environment. The same write removes an ended
 * protection; an environment with another protection stays unchanged: its deletion will be refused.
 */
async function withNotes(
  store: EnvironmentStore,
  environment: EphemeralEnvironment,
  removing: RemovalOptions,
): Promise<EphemeralEnvironment | "changed"> {
  const notes = notesOf(environment, removing, store.traceparent?.());
  if (notes === undefined) return environment;
  const { resourceVersion } = environment.metadata;
  let isChanged = false;
  try {
    const noted = await patchLatest(store, environment, ({ metadata }) => {
      isChanged = removing.onlyThisVersion === true && metadata.resourceVersion !== resourceVersion;
      return isChanged || metadata.deletionTimestamp !== undefined ? undefined : notes.patch;
    });
    return isChanged ? "changed" : noted;
  } catch (error) {
    // No deletion fails because of a span.
    if (!notes.isNeeded || error instanceof EnvironmentNotFound) return environment;
    throw error;
  }
}

/** The write before the deletion, and whether the deletion depends on it; `undefined` without a write. */
function notesOf(
  environment: EphemeralEnvironment,
  { cause, liftsProtection = false }: RemovalOptions,
  span: string | undefined,
): { readonly patch: Partial<Change>; readonly isNeeded: boolean } | undefined {
  const needed = mayReturn(environment) ? cause : undefined;
  const annotations = {
    ...(needed && { [DELETION_CAUSE_ANNOTATION]: needed }),
    ...(span && { [DELETION_TRACEPARENT_ANNOTATION]: span }),
  };
  if (liftsProtection) return { patch: { annotations, spec: { protectedUntil: null } }, isNeeded: true };
  if (isProtected(environment) || Object.keys(annotations).length === 0) return undefined;
  return { patch: { annotations }, isNeeded: needed !== undefined };
}

async function remove(
  { client, cache, deletions }: EnvironmentStore,
  environment: EphemeralEnvironment,
  { onlyThisVersion = false }: RemovalOptions,
): Promise<"removing" | "changed"> {
  const { name, uid, resourceVersion } = environment.metadata;
  const preconditions = { uid, ...(onlyThisVersion ? { resourceVersion } : {}) };
  const removal = () =>
    // Remembers only accepted calls: after a refusal, a later deletion by another client would pass for ours.
    deletions
      .during(uid, () => client.delete(environmentType, { name }, preconditions))
      .catch((error: unknown) => refusedRemoval(client, environment, { error, onlyThisVersion }));
  const left = await retryOnConflict(removal);
  if (left === "conflict") return onlyThisVersion ? "changed" : "removing";
  keptRest(cache, environment, left);
  return "removing";
}

/**
 * Interprets a refusal by a fresh read. A conflict: the environment may be gone, and its name taken. A 403: it may be
 * protected; missing rights and other policies answer 403 too.
 */
async function refusedRemoval(
  client: KubeClient,
  environment: EphemeralEnvironment,
  { error, onlyThisVersion }: { error: unknown; onlyThisVersion: boolean },
): Promise<"conflict"> {
  if (isConflict(error) && onlyThisVersion) return "conflict";
  // A ValidatingAdmissionPolicy answers 422 by default, a webhook 403 or 400.
  if (isInvalid(error)) throw refused(error);
  if (!isConflict(error) && !isForbidden(error)) throw error;
  const current = await reread(client, environment);
  if (current === undefined) return "conflict";
  if (isConflict(error)) throw error;
  if (!isProtected(current)) throw refused(error);
  throw new EnvironmentConflict("The environment is protected: remove the protection first", { cause: error });
}

function refused(cause: unknown): RemovalRefused {
  const error = cause as KubeError;
  return new RemovalRefused(error.detail() || error.message, { cause });
}
