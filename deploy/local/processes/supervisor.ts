import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import {
  isAlive,
  type ProcessRecord,
  recordedProcesses,
  runningProcess,
  startProcess,
  stopProcess,
} from "./process.ts";

const supervisor = "supervisor";
const STOP_GRACE_MS = 10_000;

/** Check interval and restart delays of the supervisor, in milliseconds. */
export interface SupervisorTimes {
  readonly pollMs: number;
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  /** A program that ran for so long after a restart gets the first delay again. */
  readonly stableMs: number;
}

const times: SupervisorTimes = { pollMs: 500, firstDelayMs: 1000, longestDelayMs: 60_000, stableMs: 120_000 };

/** Options of the supervisor. */
export interface SupervisorOptions {
  readonly delays?: SupervisorTimes;
  /** The last restart of each program; clearing the map resets the delays. */
  readonly restarts?: Map<string, Restart>;
}

/**
 * Does the work while no supervisor starts or stops programs of the folder, then starts the supervisor. After a failure it
 * is restarted only if it ran before.
 */
export async function withoutSupervisor<T>(folder: string, work: () => Promise<T>): Promise<T> {
  let isNeeded = await stopSupervisor(folder);
  try {
    const result = await work();
    isNeeded = true;
    return result;
  } finally {
    if (isNeeded) {
      const args = [join(import.meta.dirname, "supervise.ts"), folder];
      await startProcess(folder, { name: supervisor, command: process.execPath, args });
    }
  }
}

/**
 * Ends every program of the folder, the supervisor first, then the latest first: no program loses its dependencies, and none
 * is restarted. `graceMs` is that of `stopProcess`.
 */
export async function stopAll(folder: string, graceMs: number): Promise<void> {
  await stopSupervisor(folder);
  const records = await recordedProcesses(folder);
  for (const record of records.reverse()) await stopProcess(folder, record, graceMs);
}

/** Ends the supervisor of the folder's programs, which keep running. Returns whether one ran. */
export async function stopSupervisor(folder: string): Promise<boolean> {
  const running = await runningProcess(folder, supervisor);
  if (running) await stopProcess(folder, running, STOP_GRACE_MS);
  return running !== undefined;
}

/**
 * Restarts the folder's recorded programs when they end, as a Deployment does with its pods, until the signal: after a
 * second, and after twice the last delay for each early end, up to a minute. `log` gets a line for each end and each start.
 */
export async function supervise(
  folder: string,
  signal: AbortSignal,
  log: (line: string) => void,
  { delays = times, restarts = new Map() }: SupervisorOptions = {},
): Promise<void> {
  while (!signal.aborted) {
    for (const record of await recordedProcesses(folder)) {
      if (record.name === supervisor || isAlive(record)) continue;
      restarts.set(record.name, await restartWhenDue(record, restarts.get(record.name)));
    }
    await pause(delays.pollMs, undefined, { signal }).catch(() => undefined);
  }

  async function restartWhenDue(record: ProcessRecord, last: Restart | undefined): Promise<Restart> {
    const now = performance.now();
    if (last === undefined || last.isDone) {
      const delayMs = delayAfter(last, now, delays);
      log(`${record.name} (${record.pid}) has ended; it is started again in ${delayMs / 1000} s`);
      return { at: now + delayMs, delayMs, isDone: false };
    }
    if (now < last.at) return last;
    await start(record);
    return { ...last, at: performance.now(), isDone: true };
  }

  async function start({ name, spec }: ProcessRecord): Promise<void> {
    try {
      log(`${name} was started again (${(await startProcess(folder, spec)).pid})`);
    } catch (error) {
      log(`${name} can't be started: ${(error as Error).message}`);
    }
  }
}

/** A restart of one program: its due time, and its delay. */
export interface Restart {
  readonly at: number;
  readonly delayMs: number;
  readonly isDone: boolean;
}

/** Doubles the delay for a program that ended soon after its last restart. */
function delayAfter(last: Restart | undefined, now: number, delays: SupervisorTimes): number {
  if (last === undefined || now - last.at > delays.stableMs) return delays.firstDelayMs;
  return Math.min(last.delayMs * 2, delays.longestDelayMs);
}
