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
import { expiresAt } from "../../../../crds/environment/lifetime.ts";
import { CreationFailed, EnvironmentConflict, NameExists } from "../../../../crds/errors.ts";
import { AUDIT_ID_ANNOTATION, EXTENSION_NOTE_ANNOTATION } from "../../../../crds/group.ts";
import { isUuid } from "../../../../crds/names.ts";
import { isAlreadyExists, isForbidden, isUnanswered } from "../../../kit/client/errors.ts";
import { BY_CREATION_KEY, BY_UID } from "../../../ports/caches.ts";
import type { Environments, Extension } from "../../../ports/facade/environments.ts";
import type { LeftFields } from "../../../ports/left-fields.ts";
import { environmentType } from "../kinds.ts";
import { changeAnnotations, kept, type Store } from "../store.ts";
import { complete, forUser } from "../user-request.ts";
import { type Change, environmentChanges } from "./changes.ts";
import { EnvironmentDirectory } from "./directory.ts";
import { followedChanges } from "./followed-changes.ts";
import { assertLasting } from "./lasting-changes.ts";
import { liveLookUp } from "./lookup.ts";
import { operatorEnvironments } from "./operator-environments.ts";
import { requestedReconciles } from "./requested-reconciles.ts";

/** A terminating environment is usually gone within this time. */
const TERMINATING_RETRY_SECONDS = 10;
/** The client has waited long already. */
const LOOK_AGAIN_MS = 1_000;

interface Context extends Omit<Store<EphemeralEnvironment>, "namespace"> {
  /** Absent without a GitOps tool that leaves fields alone: none are. */
  readonly leftFields?: LeftFields;
}

/** Environments port on the Kubernetes API and the watch cache. */
export function kubernetesEnvironments(context: Context): Environments {
  const lookUp = liveLookUp(context);
  const requestReconcile = requestedReconciles(context);
  const changes = environmentChanges(context);
  const leftFields = context.leftFields ?? (async () => false);
  const change = async (environment: EphemeralEnvironment, wanted: Change) => {
    await assertLasting({ client: context.client, leftFields }, environment, wanted.spec);
    return changes(environment, wanted);
  };
  // Created with the first requested page.
  let directory: EnvironmentDirectory | undefined;
  return {
    ...operatorEnvironments(context),
    page(query) {
      directory ??= new EnvironmentDirectory(complete(context.cache));
      return directory.page(query);
    },
    changes: (signal) => followedChanges(complete(context.cache), signal),
    find: (idOrName) =>
      forUser(async () => {
        const { cache } = context;
        const known = isUuid(idOrName) ? cache.by(BY_UID, idOrName)[0] : cache.get(idOrName);
        if (known !== undefined) return known;
        complete(cache);
        return lookUp(idOrName);
      }),
    madeWith: (key) => context.cache.by(BY_CREATION_KEY, key).find((one) => answersKey(one, key, context.clock.now())),
    create: (name, spec, mark) => forUser(() => create(context, name, spec, mark)),
    extend: (environment, extension) => forUser(() => change(environment, extensionOf(extension))),
    update: (environment, update) => forUser(() => change(environment, { spec: update })),
    reconcile: (environment, options) => forUser(() => requestReconcile(environment, options)),
  };
}

async function create(
  context: Context,
  name: string,
  spec: EnvironmentSpec,
  mark: IdempotencyRecord | undefined,
): Promise<EphemeralEnvironment> {
  const annotations = { ...changeAnnotations(context), ...(mark && markAnnotations(mark)) };
  const manifest = environmentManifest(name, spec, annotations);
  try {
    const created = await context.client
      .create(environmentType, manifest)
      .catch((error: unknown) => madeUnanswered(context, name, error));
    return kept(context.cache, created);
  } catch (error) {
    if (isAlreadyExists(error)) return madeBefore(context, name, mark);
    if (isForbidden(error)) throw new CreationFailed({ cause: error });
    throw error;
  }
}

/**
 * The environment that this unanswered request created, recognized by the id of its audit record; else throws the
 * failure. A client's retry would find the name taken.
 */
async function madeUnanswered(
  { client, auditId }: Context,
  name: string,
  failure: unknown,
): Promise<EphemeralEnvironment> {
  const id = auditId?.();
  if (id === undefined || !isUnanswered(failure)) throw failure;
  const look = { signal: AbortSignal.timeout(LOOK_AGAIN_MS) };
  const found = await client.find(environmentType, { name }, look).catch(() => undefined);
  if (found?.metadata.annotations?.[AUDIT_ID_ANNOTATION] !== id) throw failure;
  return found;
}

/** The environment of that name, when the response to an earlier attempt of this request got lost; else NameExists. */
async function madeBefore(
  { client, cache, clock }: Context,
  name: string,
  mark: IdempotencyRecord | undefined,
): Promise<EphemeralEnvironment> {
  // The cache may still have a former environment of the name.
  const known = mark === undefined ? cache.get(name) : undefined;
  const holder = known ?? (await client.find(environmentType, { name }));
  if (holder !== undefined && mark !== undefined && answersKey(holder, mark.key, clock.now())) return holder;
  const isLeaving = holder?.metadata.deletionTimestamp !== undefined;
  throw new NameExists(name, isLeaving ? TERMINATING_RETRY_SECONDS : undefined);
}

/** Also removes the reason of a former extension. */
function extensionOf({ ttlHours, note, onlyFrom }: Extension): Change {
  return {
    spec: { ttlHours },
    annotations: { [EXTENSION_NOTE_ANNOTATION]: note ?? null },
    check(current) {
      if (onlyFrom === undefined || expiresAt(current).getTime() === onlyFrom.getTime()) return;
      throw new EnvironmentConflict("The environment's TTL was changed meanwhile");
    },
  };
}
