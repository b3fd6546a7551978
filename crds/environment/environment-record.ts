import { digestOf } from "../digest.ts";
import { API_VERSION, ENVIRONMENT_NAME_LABEL, GROUP, kindOf, type Namespaced, type Resource } from "../group.ts";
import { oncePer } from "../once-per.ts";
import { present } from "../present.ts";
import type { RecordSpec, RecordStatus } from "./environment-record.schema.ts";
import type { EnvironmentSpec } from "./ephemeral-environment.ts";

export type { RecordSpec } from "./environment-record.schema.ts";

/**
 * Facts about a deleted environment: for statistics and costs, and as its pull request's tombstone. Its name is the
 * environment's UID, so it is unique.
 */
export interface EnvironmentRecord extends Resource<"EnvironmentRecord", RecordSpec, Namespaced> {
  readonly status?: RecordStatus;
}

export const recordKind = kindOf("EnvironmentRecord", "environmentrecords");

/** Selects all objects of one pull request, or of one Repository's pipelines. */
export const TRIGGER_LABEL = `${GROUP}/trigger`;

/**
 * Value of the trigger label: a hash, because repository names don't fit a label. `undefined` without an event of a
 * host.
 */
export function triggerKey(trigger: EnvironmentSpec["trigger"]): string | undefined {
  const { kind, provider = "", repository = "", number } = trigger ?? {};
  if (kind === "pipeline") return pipelineKey(provider, repository);
  return kind === undefined || number === undefined ? undefined : digestOf([kind, provider, repository, number]);
}

/**
 * Trigger label for a pull request.
 *
 * @param host the host's id in the settings; empty for the contract's own format
 * @param repository name of the Repository
 */
export const pullRequestKey = (host: string, repository: string, number: number): string =>
  digestOf(["pull_request", host, repository, number]);

/** Trigger label of all environments of a Repository's pipelines. */
export const pipelineKey = (host: string, repository: string): string => digestOf(["pipeline", host, repository]);

/** Record with later facts; the same object for the same record, because there may be tens of thousands. */
export function completeRecord(record: EnvironmentRecord): RecordSpec {
  return record.status?.allocations === undefined ? record.spec : withStatus(record);
}

const withStatus = oncePer(
  ({ spec, status }: EnvironmentRecord): RecordSpec => ({
    ...spec,
    ...(status?.allocations && { allocations: status.allocations }),
  }),
);

/** Manifest of a record. */
export function recordManifest(spec: RecordSpec, namespace: string) {
  const trigger = triggerKey(spec.trigger);
  const labels = {
    [ENVIRONMENT_NAME_LABEL]: spec.name,
    ...present({ [TRIGGER_LABEL]: trigger }),
  };
  return {
    apiVersion: API_VERSION,
    kind: "EnvironmentRecord",
    metadata: { name: spec.uid, namespace, labels },
    spec,
  } as const;
}

/** Record whose deletion was requested last. */
export function newest(records: readonly RecordSpec[]): RecordSpec | undefined {
  const newestFirst = records.toSorted((one, other) => Date.parse(other.deletedAt) - Date.parse(one.deletedAt));
  return newestFirst[0];
}
