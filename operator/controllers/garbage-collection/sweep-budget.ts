import { mostAtOnce } from "../../../crds/environment/deletion-budget.ts";
import { reportLimit } from "../../kit/time/rate-limits.ts";
import type { CollectionDependencies } from "./dependencies.ts";

interface Excess {
  readonly orphans: number;
  readonly living: number;
  readonly most: number;
}

/** Report of a blocked sweep. */
export interface BlockedSweep {
  readonly line: string;
  readonly reason: string;
  /** Event message, before the remedy. */
  readonly message: (excess: Excess) => string;
  /** Beside a larger budget, which helps only while owners exist. */
  readonly remedy: string;
}

/**
 * Answers true for implausibly many orphans, which rather indicate a wrong list of owners; reports them once an hour.
 */
export function sweepBudget(
  { settings, clock, log, events }: CollectionDependencies<"settings" | "clock" | "log" | "events">,
  { line, reason, message, remedy }: BlockedSweep,
) {
  const report = reportLimit(clock);
  return (orphans: number, living: number): boolean => {
    // A lost or restored etcd also returns an empty list: without owners, two orphans are too many.
    const most = living === 0 ? 1 : mostAtOnce(settings.sweep.deletionBudget, living);
    const isExceeded = orphans > most;
    if (!isExceeded) report.reset();
    else if (report.isDue()) {
      const excess = { orphans, living, most };
      const remedies = living === 0 ? remedy : `${remedy}, or raise settings.sweep.deletionBudget.atLeast`;
      log.error(line, { ...excess, remedy: remedies });
      events.publish({ type: "Warning", reason, action: "Sweep", message: `${message(excess)}: ${remedies}` });
    }
    return isExceeded;
  };
}
