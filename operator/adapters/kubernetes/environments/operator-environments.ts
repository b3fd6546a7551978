import {
  type EnvironmentSpec,
  type EphemeralEnvironment,
  environmentManifest,
} from "../../../../crds/environment/ephemeral-environment.ts";
import { isProtected } from "../../../../crds/environment/lifetime.ts";
import { mayReturn } from "../../../../crds/environment/managed-by.ts";
import { CreationFailed, EnvironmentConflict, EnvironmentNotFound } from "../../../../crds/errors.ts";
import { DELETION_CAUSE_ANNOTATION, DELETION_TRACEPARENT_ANNOTATION } from "../../../../crds/group.ts";
import {
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
  type KubeError,
} from "../../../kit/client/errors.ts";
import type { KubeClient } from "../../../kit/client/kube-client.ts";
import { retryOnConflict } from "../../../kit/client/retries.ts";
import {
  type DecidedWrites,
  type OperatorEnvironments,
  RemovalRefused,
  type Removing,
} from "../../../ports/environments.ts";
import { environmentType } from "../kinds.ts";
import { changeAnnotations, changePatch, kept, keptRest, type Store } from "../store.ts";
import { complete, forUser } from "../user-request.ts";
import { type Change, patchLatest } from "./changes.ts";
import { countNow, reread } from "./lookup.ts";

type Context = Pick<Store<EphemeralEnvironment>, "client" | "cache" | "deletions" | "auditId" | "traceparent">;

/** OperatorEnvironments port on the Kubernetes API and the watch cache. */
export function operatorEnvironments(context: Context): OperatorEnvironments {
  return {
    list: () => complete(context.cache).list(),
    countNow: (isMeant) => forUser(() => countNow(context.client, isMeant)),
    reread: (environment) => forUser(() => reread(context.client, environment)),
    remove: (environment, options = {}) =>
      forUser(async () => {
        const noted = await withNotes(context, environment, options);
        return noted === "changed" ? noted : remove(context, noted, options);
      }),
  };
}

/**
 * Writes the deletion's cause, if the record needs it, and its span on the environment. The same write removes an ended
 * protection; an environment with another protection stays unchanged: its deletion will be refused.
 */
async function withNotes(
  context: Context,
  environment: EphemeralEnvironment,
  removing: Removing,
): Promise<EphemeralEnvironment | "changed"> {
  const notes = notesOf(environment, removing, context.traceparent?.());
  if (notes === undefined) return environment;
  const { resourceVersion } = environment.metadata;
  let isChanged = false;
  try {
    const noted = await patchLatest(context, environment, ({ metadata }) => {
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
  { cause, liftsProtection = false }: Removing,
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
  { client, cache, deletions }: Context,
  environment: EphemeralEnvironment,
  { onlyThisVersion = false }: Removing,
): Promise<"removing" | "changed"> {
  const { name, uid, resourceVersion } = environment.metadata;
  const preconditions = { uid, ...(onlyThisVersion ? { resourceVersion } : {}) };
  const ask = () =>
    // Remembers only accepted calls: after a refusal, a later deletion by another client would pass for ours.
    deletions
      .during(uid, () => client.delete(environmentType, { name }, preconditions))
      .catch((error: unknown) => refusedRemoval(client, environment, { error, onlyThisVersion }));
  const left = await retryOnConflict(ask);
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

type Context = Pick<Store<EphemeralEnvironment>, "client" | "cache" | "deletions" | "traceparent">;

/** DecidedWrites port on the Kubernetes API and the watch cache. */
export function decidedWrites(context: Context): DecidedWrites {
  const { client, traceparent } = context;
  const { remove } = operatorEnvironments(context);
  return {
    findNow: (name) => forUser(() => client.find(environmentType, { name })),
    create: (name, spec, auditId, annotations = {}) =>
      forUser(() => create(context, { name, spec, auditId, annotations })),
    revise: (environment, spec, auditId, annotations) =>
      forUser(() =>
        revise(context, environment, {
          spec,
          annotations: { ...annotations, ...changePatch({ auditId: () => auditId, traceparent }) },
        }),
      ),
    remove: (environment) => remove(environment, { onlyThisVersion: true }),
  };
}

interface Creation {
  readonly name: string;
  readonly spec: EnvironmentSpec;
  readonly auditId: string;
  readonly annotations: Readonly<Record<string, string>>;
}

async function create({ client, cache, traceparent }: Context, given: Creation) {
  const { name, spec, auditId } = given;
  try {
    const annotations = { ...given.annotations, ...changeAnnotations({ auditId: () => auditId, traceparent }) };
    const manifest = environmentManifest(name, spec, annotations);
    return kept(cache, await client.create(environmentType, manifest));
  } catch (error) {
    if (isAlreadyExists(error)) return "changed";
    throw isForbidden(error) ? new CreationFailed({ cause: error }) : error;
  }
}

interface Revision {
  readonly spec: Partial<EnvironmentSpec>;
  readonly annotations: Readonly<Record<string, string | null>>;
}

async function revise({ client, cache }: Context, { metadata }: EphemeralEnvironment, { spec, annotations }: Revision) {
  const { name, uid, resourceVersion } = metadata;
  const patch = { metadata: { uid, resourceVersion, annotations }, spec };
  try {
    return kept(cache, await client.patch(environmentType, { name }, patch, { as: "merge" }));
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return "changed";
    throw error;
  }
}
