import type { RecordSpec } from "../../../crds/environment/environment-record.ts";
import type { TeardownStep } from "../../../crds/environment/environment-status.schema.ts";
import { type EphemeralEnvironment, hasDatabase } from "../../../crds/environment/ephemeral-environment.ts";
import { isExpired, ttlHours } from "../../../crds/environment/lifetime.ts";
import { COMPONENTS, type Component } from "../../../crds/names.ts";
import type { Owner } from "../../ports/cluster.ts";
import { beforeTeardown } from "./terminating.ts";

/** What is remembered of an environment whose teardown got past the given steps. */
export function environmentRecord(
  environment: EphemeralEnvironment,
  steps: readonly TeardownStep[],
  goneAt: Date,
): RecordSpec {
  const { metadata, spec, status } = environment;
  const deletedAt = metadata.deletionTimestamp ?? goneAt.toISOString();
  const configSet = status?.configSet ?? spec.configSet;
  return {
    ...{ name: metadata.name, uid: metadata.uid, createdAt: metadata.creationTimestamp },
    // Nothing else is written when an environment is deleted: the moment tells why, to the second.
    reason: isExpired(environment, new Date(Date.parse(deletedAt) + 999)) ? "expired" : "deleted",
    ...(status?.readyAt === undefined ? {} : { readyAt: status.readyAt }),
    ...departure(deletedAt, goneAt),
    ...beforeTeardown(environment),
    ttlHours: ttlHours(environment),
    components: Object.fromEntries(COMPONENTS.flatMap((component) => recordedComponent(environment, component))),
    ...(configSet === undefined ? {} : { configSet: recordedConfigSet(configSet) }),
    databaseProvisioned: hasDatabase(environment),
    ...(spec.owner === undefined ? {} : { owner: spec.owner }),
    ...(spec.access === undefined ? {} : { groups: spec.access.groups }),
    ...(spec.trigger === undefined ? {} : { trigger: spec.trigger }),
    ...forcedSteps(steps),
  };
}

/** What is remembered of an environment whose resource went before the rest of it, first seen so at `seenAt`. */
export function orphanRecord(
  { owner, since, seenAt }: { owner: Owner; since: Date; seenAt: Date },
  steps: readonly TeardownStep[],
  goneAt: Date,
): RecordSpec {
  return {
    ...{ name: owner.name, uid: owner.uid, reason: "orphaned", createdAt: since.toISOString() },
    ...departure(seenAt.toISOString(), goneAt),
    ...forcedSteps(steps),
  };
}

function departure(deletedAt: string, goneAt: Date) {
  const teardownSeconds = Math.max(0, Math.round((goneAt.getTime() - Date.parse(deletedAt)) / 1000));
  return { deletedAt, goneAt: goneAt.toISOString(), teardownSeconds };
}

function recordedComponent({ spec, status }: EphemeralEnvironment, component: Component) {
  const source = spec[component];
  if (source === undefined) return [];
  const { repository, branch, commit: asked = "" } = source;
  const settled = status?.components?.[component];
  return [[component, { repository, branch, commit: settled?.commit ?? settled?.resolved?.commit ?? asked }] as const];
}

function recordedConfigSet({ name, version }: { name: string; version?: number }) {
  return { name, ...(version === undefined ? {} : { version }) };
}

function forcedSteps(steps: readonly TeardownStep[]): Pick<RecordSpec, "forced"> {
  const forced = steps.filter(({ state }) => state === "forced");
  if (forced.length === 0) return {};
  return { forced: forced.map(({ name, message = "" }) => ({ step: name, left: message })) };
}
