import { findCondition } from "../conditions.ts";
import type { RecordSpec } from "../environment/environment-record.ts";
import type { EphemeralEnvironment, Phase } from "../environment/ephemeral-environment.ts";
import { deletableFrom, isEndedByExpiry, ttlHours } from "../environment/lifetime.ts";
import type { PastSleeps } from "../environment/past-sleep.schema.ts";
import { shownPhase } from "../environment/phase.ts";
import type { Allocations } from "./allocations.ts";
import { spansOf, type UsageSpan } from "./usage.ts";

/**
 * Facts about an existing or past environment, for statistics and costs. Moments are in milliseconds since 1970,
 * `undefined` if they have not come.
 */
export interface UsageRecord {
  readonly uid: string;
  readonly name: string;
  readonly createdMs: number;
  readonly readyMs: number | undefined;
  /** True when the environment is failed, or was at its end. */
  readonly isFailed: boolean;
  readonly failure: string | undefined;
  /** Moment from which its expiry permits its deletion. */
  readonly dueMs: number | undefined;
  /** Moment of the deletion request. */
  readonly deletedMs: number | undefined;
  readonly isExpired: boolean;
  readonly goneMs: number | undefined;
  /** True when an admin skipped a step of its deletion. */
  readonly isForced: boolean;
  /** Phase that users see; `undefined` once it is gone. */
  readonly phase: Phase | undefined;
  /** Last change of its spec; `undefined` once it is gone. */
  readonly changedMs: number | undefined;
  /** True until a reconcile has answered its latest change. */
  readonly isUnanswered: boolean;
  /** Last TTL in hours. */
  readonly ttlHours: number | undefined;
  /** Name of the Repository of its backend. */
  readonly repository: string | undefined;
  readonly configSet: string | undefined;
  readonly trigger: Trigger;
  readonly owner: Owner | undefined;
  /** Groups whose members may see it, beside its owner. */
  readonly groups: readonly string[];
  /** Requested resources over time; `undefined` when they are unknown. */
  readonly usage: readonly UsageSpan[] | undefined;
  /** Costs that a cost monitor allocated to it. */
  readonly allocations: Allocations | undefined;
  readonly sleeps: PastSleeps | undefined;
  /** True for one that exists and whose sleep is undecided: no wish for it, not even for none, and no suspension. */
  readonly isSleepOpen: boolean;
}

/** Order of their names, by code points: for those with equal figures. */
export const byName = ({ name: one }: UsageRecord, { name: other }: UsageRecord): number =>
  one < other ? -1 : Number(one > other);

type Owner = NonNullable<RecordSpec["owner"]>;
type Trigger = NonNullable<RecordSpec["trigger"]>["kind"] | "kubectl";

export function usageOfEnvironment(environment: EphemeralEnvironment): UsageRecord {
  const { metadata, spec, status } = environment;
  const phase = shownPhase(environment);
  const isFailed = phase === "failed";
  const before = status?.teardown?.before;
  const failure = isFailed ? findCondition(status?.conditions, "Ready")?.reason : before?.failure;
  const { deletionTimestamp } = metadata;
  return {
    uid: metadata.uid,
    name: metadata.name,
    createdMs: Date.parse(metadata.creationTimestamp),
    readyMs: msOf(status?.readyAt),
    isFailed: isFailed || before?.failure !== undefined,
    failure,
    dueMs: deletableFrom(environment)?.getTime(),
    deletedMs: msOf(deletionTimestamp),
    isExpired: deletionTimestamp !== undefined && isEndedByExpiry(environment, deletionTimestamp),
    goneMs: undefined,
    isForced: false,
    phase,
    changedMs: msOf(status?.specChangedAt ?? metadata.creationTimestamp),
    isUnanswered: status?.observedGeneration !== metadata.generation,
    ttlHours: ttlHours(environment),
    repository: spec.backend?.repository,
    configSet: status?.configSet?.name ?? spec.configSet?.name,
    trigger: spec.trigger?.kind ?? "kubectl",
    owner: spec.owner,
    groups: spec.access?.groups ?? [],
    usage: status?.usage && spansOf(status.usage),
    allocations: status?.allocations,
    sleeps: status?.sleeps,
    isSleepOpen: isSleepOpen(environment),
  };
}

export function usageOfRecord(record: RecordSpec): UsageRecord {
  const { createdAt, readyAt, failure, dueAt, deletedAt, goneAt, forced = [] } = record;
  return {
    uid: record.uid,
    name: record.name,
    createdMs: Date.parse(createdAt),
    readyMs: msOf(readyAt),
    isFailed: failure !== undefined,
    failure,
    dueMs: msOf(dueAt),
    deletedMs: Date.parse(deletedAt),
    isExpired: record.reason === "expired",
    goneMs: Date.parse(goneAt),
    isForced: forced.length > 0,
    phase: undefined,
    changedMs: undefined,
    isUnanswered: false,
    ttlHours: record.ttlHours,
    repository: record.components?.backend?.repository,
    configSet: record.configSet?.name,
    trigger: record.trigger?.kind ?? "kubectl",
    owner: record.owner,
    groups: record.groups ?? [],
    usage: record.usage && spansOf(record.usage),
    allocations: record.allocations,
    sleeps: record.sleeps,
    isSleepOpen: false,
  };
}

function isSleepOpen({ spec, status }: EphemeralEnvironment): boolean {
  const wishes = [spec.sleep, status?.configSet?.sleep, status?.sleep];
  return spec.suspended !== true && wishes.every((wish) => wish === undefined);
}

const msOf = (instant: string | undefined) => (instant === undefined ? undefined : Date.parse(instant));
