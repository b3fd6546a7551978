import type { ApiToken } from "../../../../crds/api-token.ts";
import type { ConfigSet } from "../../../../crds/config-set.ts";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { AUDIT_ID_ANNOTATION } from "../../../../crds/group.ts";
import type { Repository } from "../../../../crds/repository/repository.ts";
import { fieldManagers, recordOutOfBandChanges } from "../../../../operator/audit/out-of-band-changes.ts";
import { createObjectCache } from "../../../../operator/kit/cache/indexed-cache.ts";
import type { ObjectMeta } from "../../../../operator/kit/client/objects.ts";
import { ownDeletions } from "../../../../operator/kit/client/own-deletions.ts";
import { memoryAuditTrail } from "../../../support/doubles/memory/audit-trail.ts";

const SECOND = "2026-06-01T12:00:00Z";
export const deletionTimestamp = "2026-06-01T13:00:00Z";
/** An entry of `managedFields` of a manager that wrote the spec. */
export const ofSpec = (manager: string, time = SECOND) => ({ manager, time, fieldsV1: { "f:spec": {} } });

let version = 1;
/** A version of one environment, by default from kubectl, with the last observed generation. */
export function environment(
  metadata: Partial<ObjectMeta> & { stamp?: string } = {},
  seen?: number,
  observedAuditId = "audit-1",
) {
  const { stamp, ...more } = metadata;
  version += 1;
  return {
    apiVersion: "ephemeral-environments.dev/v1",
    kind: "EphemeralEnvironment",
    metadata: {
      name: "shop",
      uid: "uid-1",
      creationTimestamp: SECOND,
      resourceVersion: String(version),
      generation: 1,
      ...(stamp === undefined ? {} : { annotations: { [AUDIT_ID_ANNOTATION]: stamp } }),
      managedFields: [ofSpec("kubectl")] as ObjectMeta["managedFields"],
      ...more,
    },
    spec: {},
    ...(seen === undefined
      ? {}
      : { status: { observedGeneration: seen, observedAuditId, conditions: [readyOf(seen)] } }),
  } as unknown as EphemeralEnvironment;
}

const readyOf = (observedGeneration: number) => ({ type: "Ready", status: "Unknown", observedGeneration });

/** The version after a reconcile has begun its deletion: `observedGeneration` stays the former one. */
export function leavingEnvironment(metadata: Partial<ObjectMeta>, seen: number) {
  const { status, ...living } = environment({ deletionTimestamp, ...metadata }, seen - 1);
  return {
    ...living,
    status: { ...status, conditions: [readyOf(seen)], teardown: { steps: [] } },
  } as unknown as EphemeralEnvironment;
}

/** A leader that observes caches, and its records. */
export function scene() {
  const writers = fieldManagers();
  const transform = writers.noting<EphemeralEnvironment>((object) => ({ ...object }));
  const environments = createObjectCache({ transform });
  const apiTokens = createObjectCache<ApiToken>();
  const repositories = createObjectCache({ transform: writers.noting<Repository>((object) => ({ ...object })) });
  const caches = {
    environments,
    configSets: createObjectCache<ConfigSet>(),
    repositories,
    apiTokens,
    writersOf: writers.of,
  };
  const audit = memoryAuditTrail();
  const deletions = ownDeletions();
  let id = 0;
  const begin = () => recordOutOfBandChanges({ caches, audit, deletions, newId: () => `id-${++id}` });
  const seen = () =>
    audit.records.map(({ action, actor, objects }) => [
      action,
      objects[0]?.uid,
      "fieldManagers" in actor ? actor.fieldManagers.join(",") : undefined,
    ]);
  return { environments, repositories, apiTokens, deletions, begin, seen };
}

/** Metadata of an object that only this operator wrote. */
export const byUs = { managedFields: [ofSpec("ephemeral-environments")] as never };
/** Older than every other version. */
export const first = () => environment({ stamp: "audit-1", resourceVersion: "1", ...byUs });
