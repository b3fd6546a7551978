import type { Settings } from "../../../config/settings.ts";
import type { ControllerPorts } from "../../controller-ports.ts";
import { hourly } from "../../kit/time/hourly.ts";
import { mostAtOnce } from "../environment/deletion/deletion-budget.ts";

/** How many orphans were found, how many owners live, and the most orphans that are plausible beside them. */
interface Excess {
  readonly orphans: number;
  readonly living: number;
  readonly most: number;
}

/** How a sweep that is blocked is reported. */
export interface BlockedSweep {
  /** Of the log. */
  readonly line: string;
  readonly reason: string;
  /** Of the Event, before the remedy. */
  readonly message: (excess: Excess) => string;
  readonly remedy: string;
}

interface Context extends Pick<ControllerPorts, "clock" | "log" | "events"> {
  readonly settings: Pick<Settings, "sweep">;
}

/**
 * Tells whether there are more orphans than plausible, which rather means that the list of what lives is wrong; reports it
 * once an hour.
 */
export function sweepBudget(
  { settings, clock, log, events }: Context,
  { line, reason, message, remedy }: BlockedSweep,
) {
  const report = hourly(clock);
  return (orphans: number, living: number): boolean => {
    // A lost or restored etcd also returns an empty list: without owners, two orphans are too many.
    const most = living === 0 ? 1 : mostAtOnce(settings.sweep.breaker, living);
    const isExceeded = orphans > most;
    if (!isExceeded) report.reset();
    else if (report.isDue()) {
      const excess = { orphans, living, most };
      log.error(line, { ...excess, remedy });
      events.publish({ type: "Warning", reason, action: "Sweep", message: `${message(excess)}: ${remedy}` });
    }
    return isExceeded;
  };
}
