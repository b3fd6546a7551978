import type { TeardownBlocker } from "../../crds/environment/environment-status.schema.ts";
import { CONFIRM_DELETION_ANNOTATION } from "../../crds/group.ts";
import type { Orphan } from "../environment/deletion/orphans.ts";
import type { Log } from "../kit/log.ts";
import type { EventRecorder } from "../ports/event-recorder.ts";

interface Readers {
  readonly log: Log;
  readonly events: EventRecorder;
}

/** What happened to leftovers, for the log and for those who look at Events. */
interface Occasion {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  /** The constant line of the log. */
  readonly line: string;
  /** The Event about one of them, which begins with whose it is. */
  readonly says: (leftover: Told) => string;
}

type Told = Orphan & { readonly blockers?: readonly TeardownBlocker[] };

export const FOUND: Occasion = {
  ...{ type: "Warning", reason: "OrphanFound", line: "something is left of an environment that is no more" },
  says: ({ what }) => `is no more, but there are: ${what.join(", ")}; they go when they have been seen for a while`,
};

export const REMOVED: Occasion = {
  ...{ type: "Normal", reason: "OrphanRemoved", line: "leftovers of an environment that is no more were removed" },
  says: ({ what }) => `is no more, and what was left of it is gone: ${what.join(", ")}`,
};

export const STUCK: Occasion = {
  ...{ type: "Warning", reason: "OrphanStuck", line: "leftovers can't be removed" },
  says: ({ blockers = [] }) =>
    `is no more, and what is left of it does not go: ${blockers.map(holds).join("; ")}; nothing forces it: mend what holds it, and it goes`,
};

const holds = ({ kind, name, reason, message }: TeardownBlocker) =>
  `${[kind, name].filter(Boolean).join(" ")} is held by ${reason}: ${message}`;

/** Ten thousand at once are one thing that happened, not ten thousand. */
const MOST_BY_NAME = 10;

/** Tells of some by name, and of the others by their number. */
export function recordEvents(occasion: Occasion, leftovers: readonly Told[], { log, events }: Readers): void {
  const { type, reason, line, says } = occasion;
  for (const leftover of leftovers.slice(0, MOST_BY_NAME)) {
    const { owner, what, since, blockers } = leftover;
    log.warn(line, { environment: owner.name, uid: owner.uid, what, since: since.toISOString(), blockers });
    events.publish({ type, reason, message: `environment ${owner.name} (${owner.uid}) ${says(leftover)}` });
  }
  const others = leftovers.length - MOST_BY_NAME;
  if (others <= 0) return;
  log.warn(line, { others });
  events.publish({ type, reason, message: `the same is so of ${others} environments more` });
}

/** An implausible number of orphans. */
export interface Excess {
  readonly orphans: number;
  readonly living: number;
  readonly most: number;
}

/** How an admin lets go what the breaker holds. */
const REMEDY = `kubectl annotate namespace env-NAME… ${CONFIRM_DELETION_ANNOTATION}=true (or its application or project); where only secrets are left, remove them from the secret manager, or raise settings.sweep.breaker.atLeast`;

export function recordBlocked(excess: Excess, { log, events }: Readers): void {
  const { orphans, living, most } = excess;
  log.error("too many leftovers to be plausible: nothing is removed", { ...excess, remedy: REMEDY });
  events.publish({
    type: "Warning",
    reason: "SweepHeld",
    message: `something is left of ${orphans} environments that are no more, beside ${living} that are: more than ${most} is not plausible, and nothing is removed until an admin confirms: ${REMEDY}`,
  });
}
