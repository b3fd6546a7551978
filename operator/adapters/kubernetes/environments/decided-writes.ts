import {
  type EnvironmentSpec,
  type EphemeralEnvironment,
  environmentManifest,
} from "../../../../crds/environment/ephemeral-environment.ts";
import { CreationFailed } from "../../../../crds/errors.ts";
import { isAlreadyExists, isConflict, isForbidden, isNotFound } from "../../../kit/client/errors.ts";
import type { DecidedWrites } from "../../../ports/environments.ts";
import { environmentType } from "../kinds.ts";
import { changeAnnotations, changePatch, kept, type Store } from "../store.ts";
import { forUser } from "../user-request.ts";
import { operatorEnvironments } from "./operator-environments.ts";

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
