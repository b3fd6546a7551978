import { completeRecord, type EnvironmentRecord } from "../../../crds/environment/environment-record.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { type Allocation, type Allocations, allocationsWith } from "../../../crds/usage/allocations.ts";
import type { Period } from "../../../crds/usage/period-summary.ts";
import { insteadOf, isInvalid, isNotFound } from "../../kit/client/errors.ts";
import { retryOnConflict } from "../../kit/client/retries.ts";
import type { Log } from "../../kit/log.ts";
import type { EnvironmentLists } from "../../ports/caches.ts";
import type { EnvironmentStatusWriter, OperatorEnvironments } from "../../ports/environments.ts";
import type { Records } from "../../ports/records.ts";

/** The environments and records whose costs are kept, and their writers. */
export interface AccountDependencies {
  readonly log: Log;
  readonly caches: EnvironmentLists;
  /** The environment from this process's cache, by name. */
  readonly environment: (name: string) => EphemeralEnvironment | undefined;
  readonly environments: Pick<OperatorEnvironments, "reread">;
  readonly statusWriter: Pick<EnvironmentStatusWriter, "writeStatus">;
  readonly records: Records;
}

/** An existing or deleted environment, with its known allocations. */
export interface Account {
  readonly uid: string;
  readonly name: string;
  readonly createdMs: number;
  /** `undefined` while it exists. */
  readonly goneMs: number | undefined;
  readonly allocations: Allocations | undefined;
  /** Adds these to its status, or beside its record. */
  store(added: readonly Allocation[]): Promise<void>;
}

/** Allocations written beside records, by UID, which the watch may not have delivered yet. */
export type WrittenAllocations = Map<string, Allocations>;

/** Accounts that existed since that moment. */
export function accountsSince(
  sinceMs: number,
  written: WrittenAllocations,
  context: AccountDependencies,
): readonly Account[] {
  const records = context.caches.records.list().filter(({ spec }) => Date.parse(spec.goneAt) > sinceMs);
  // The record is written before the resource goes.
  const recorded = new Set(records.map(({ spec }) => spec.uid));
  const living = context.caches.environments.list().filter(({ metadata }) => !recorded.has(metadata.uid));
  return [
    ...living.map((one) => ofEnvironment(one, context)),
    ...records.map((one) => ofRecord(one, written, context)),
  ];
}

function ofEnvironment(environment: EphemeralEnvironment, context: AccountDependencies): Account {
  const { name, uid, creationTimestamp } = environment.metadata;
  return {
    uid,
    name,
    createdMs: Date.parse(creationTimestamp),
    goneMs: undefined,
    allocations: environment.status?.allocations,
    store: (added) => storeInStatus(environment, added, context),
  };
}

/**
 * Stores allocations in the status, which is read again after the change of another writer. A deleted environment has a
 * record by now.
 */
async function storeInStatus(
  environment: EphemeralEnvironment,
  added: readonly Allocation[],
  { environment: cached, environments, statusWriter, log }: AccountDependencies,
): Promise<void> {
  const { name, uid } = environment.metadata;
  const attempt = async (round: number) => {
    const latest = round === 1 ? cached(name) : await environments.reread(environment);
    if (latest?.metadata.uid !== uid) return;
    const allocations = added.reduce<Allocations | undefined>(allocationsWith, latest.status?.allocations);
    await statusWriter.writeStatus(latest, { ...latest.status, ...(allocations && { allocations }) });
  };
  await retryOnConflict(attempt)
    .catch(insteadOf(isNotFound, undefined))
    .catch((error: unknown) => {
      // A refused one must not block the others.
      if (!isInvalid(error)) throw error;
      log.warn("what was allocated is refused", { environment: name, error });
    });
}

function ofRecord(record: EnvironmentRecord, written: WrittenAllocations, { records }: AccountDependencies): Account {
  const { uid, name, createdAt, goneAt, allocations: seen } = completeRecord(record);
  const allocations = written.get(uid) ?? seen;
  return {
    uid,
    name,
    createdMs: Date.parse(createdAt),
    goneMs: Date.parse(goneAt),
    allocations,
    store: async (added) => {
      const all = added.reduce<Allocations | undefined>(allocationsWith, allocations);
      if (all === undefined) return;
      await records.allocate(uid, all);
      written.set(uid, all);
    },
  };
}

/** Accounts of the period that had their name, hence their namespace, alone. */
export function soleOwners(accounts: readonly Account[], { fromMs, toMs }: Period): readonly Account[] {
  const byName = new Map<string, Account | "several">();
  for (const account of accounts) {
    if (account.createdMs >= toMs || (account.goneMs ?? toMs) <= fromMs) continue;
    byName.set(account.name, byName.has(account.name) ? "several" : account);
  }
  return [...byName.values()].filter((one) => one !== "several");
}
