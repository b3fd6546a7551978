import type { RecordSpec } from "../environment/environment-record.ts";
import type { EphemeralEnvironment } from "../environment/ephemeral-environment.ts";
import { oncePer } from "../once-per.ts";
import { type UsageRecord, usageOfEnvironment, usageOfRecord } from "./usage-record.ts";

/** More parts cost more memory for each kind of sum, fewer more time for each change. */
const PARTS = 32;

/** Usage of the environments whose UIDs have the same hash. */
export type UsagePart = readonly UsageRecord[];

interface Located {
  readonly usage: UsageRecord;
  readonly part: number;
}

/**
 * Reads the usage of all environments: from records without a resource, and from resources without a record. Each is in
 * one part, by its UID. A part in which nothing has changed is the same list, so that its sums still hold; there are no
 * empty ones. A list of records that is given again must not have changed.
 */
export function createUsageParts(): (
  environments: readonly EphemeralEnvironment[],
  records: readonly RecordSpec[],
) => readonly UsagePart[] {
  // Each version of an object is read once.
  const ofEnvironment = oncePer((one: EphemeralEnvironment) => located(usageOfEnvironment(one)));
  const ofRecord = oncePer((one: RecordSpec) => located(usageOfRecord(one)));
  // So is each list of records, which changes much less often than environments do.
  const ofRecords = oncePer((records: readonly RecordSpec[]) => {
    // The record of an orphan says nothing but that it existed.
    const recorded = records.filter(({ reason }) => reason !== "orphaned");
    return { uids: new Set(recorded.map(({ uid }) => uid)), parts: divided(recorded, ofRecord) };
  });
  let known: readonly UsagePart[] = [];
  return (environments, records) => {
    const past = ofRecords(records);
    // The record is written before its resource goes.
    const living = environments.filter(({ metadata }) => !past.uids.has(metadata.uid));
    const parts = divided(living, ofEnvironment);
    known = parts.map((part, index) => together(part, past.parts[index] ?? [], known[index]));
    return known.filter(({ length }) => length > 0);
  };
}

function divided<T>(all: readonly T[], locate: (one: T) => Located): readonly UsagePart[] {
  const parts = Array.from({ length: PARTS }, (): UsageRecord[] => []);
  for (const one of all) {
    const { usage, part } = locate(one);
    parts[part]?.push(usage);
  }
  return parts;
}

/** Both lists as one: the former one, if it is equal. */
function together(living: UsagePart, past: UsagePart, former: UsagePart | undefined): UsagePart {
  const isSame =
    former?.length === living.length + past.length &&
    living.every((one, index) => one === former[index]) &&
    past.every((one, index) => one === former[living.length + index]);
  return isSame ? former : living.concat(past);
}

function located(usage: UsageRecord): Located {
  let hash = 0;
  for (let at = 0; at < usage.uid.length; at += 1) hash = (hash * 31 + usage.uid.charCodeAt(at)) % HASHES;
  return { usage, part: hash % PARTS };
}

/** Any prime above the number of parts. */
const HASHES = 65_521;
