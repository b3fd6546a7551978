import type { TeardownBlocker } from "../../../crds/environment/environment-status.schema.ts";
import { CONFIRM_DELETION_ANNOTATION } from "../../../crds/group.ts";
import type { Log } from "../../kit/log.ts";
import type { EventRecorder } from "../../ports/event-recorder.ts";
import type { Orphan } from "../environment/deletion/orphans.ts";
import type { BlockedSweep } from "./sweep-budget.ts";

interface Outlets {
  readonly log: Log;
  readonly events: EventRecorder;
}

interface OrphanEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly line: string;
  /** The Event's message about one orphan, after its environment's name. */
  readonly message: (orphan: BlockedOrphan) => string;
}

type BlockedOrphan = Orphan & { readonly blockers?: readonly TeardownBlocker[] };

export const FOUND: OrphanEvent = {
  type: "Warning",
  reason: "OrphanFound",
  line: "orphans of a deleted environment were found",
  message: ({ what }) =>
    `no longer exists, but it has left: ${what.join(", ")}; the orphans are deleted after a grace period`,
};

export const REMOVED: OrphanEvent = {
  type: "Normal",
  reason: "OrphanRemoved",
  line: "orphans of a deleted environment were removed",
  message: ({ what }) => `no longer exists, and its orphans are deleted: ${what.join(", ")}`,
};

export const STUCK: OrphanEvent = {
  type: "Warning",
  reason: "OrphanStuck",
  line: "orphans can't be deleted",
  message: ({ blockers = [] }) =>
    `no longer exists, and its orphans can't be deleted: ${blockers.map(describe).join("; ")}; they can't be forced: remove the blocker`,
};

const describe = ({ kind, name, reason, message }: TeardownBlocker) =>
  `${[kind, name].filter(Boolean).join(" ")} is blocked by ${reason}: ${message}`;

/** Others are counted, because thousands may be found at once. */
const MOST_BY_NAME = 10;

/** Reports some orphans by name and counts the others. */
export function recordEvents(event: OrphanEvent, orphans: readonly BlockedOrphan[], { log, events }: Outlets): void {
  const { type, reason, line, message } = event;
  const said = { type, reason, action: "Sweep" } as const;
  for (const orphan of orphans.slice(0, MOST_BY_NAME)) {
    const { owner, what, since, blockers } = orphan;
    log.warn(line, { environment: owner.name, uid: owner.uid, what, since: since.toISOString(), blockers });
    events.publish({ ...said, message: `environment ${owner.name} (${owner.uid}) ${message(orphan)}` });
  }
  const others = orphans.length - MOST_BY_NAME;
  if (others <= 0) return;
  log.warn(line, { others });
  events.publish({ ...said, message: `the same applies to ${others} more environments` });
}

/** Report of a sweep with implausibly many orphans. */
export const BLOCKED: BlockedSweep = {
  line: "too many orphans to be plausible: none is deleted",
  reason: "OrphansBlocked",
  message: ({ orphans, living, most }) =>
    `${orphans} deleted environments have left orphans, beside ${living} environments that exist: more than ${most} is not plausible, and none is deleted until an admin confirms`,
  remedy: `kubectl annotate namespace env-NAME… ${CONFIRM_DELETION_ANNOTATION}=true (or its application or project); where only secrets are left, remove them from the secret manager, or raise settings.sweep.deletionBudget.atLeast`,
};
