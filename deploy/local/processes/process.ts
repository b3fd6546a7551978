import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { onCode } from "../../build/error-codes.ts";
import { type Workplace, withoutProxies, withSystemPath, workplace } from "../../build/run.ts";
import { type Wait, waitUntil } from "../../build/wait.ts";
import { makeCommand } from "../typed-words.ts";
import { startOf } from "./process-start.ts";
import { writeWhole } from "./whole-file.ts";

/** A program to keep running. */
export interface ProcessSpec extends Workplace {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Added to our own environment without its proxies. */
  readonly env?: Readonly<NodeJS.ProcessEnv>;
  /** True: the kernel kills the program when our process ends, for any reason. Otherwise the program outlives us. */
  readonly diesWithUs?: boolean;
}

/** The record of a started program, in a file for its owner alone: the environment may hold a password. */
export interface ProcessRecord {
  readonly name: string;
  readonly pid: number;
  /** Used for a restart, too. */
  readonly spec: ProcessSpec;
  /** The start time by `startOf`: with the pid it identifies a process for ever. */
  readonly startedAt: string;
  readonly logFile: string;
}

/**
 * Starts a program, detached, appends its output to `<folder>/log/<name>.log`, and records it in
 * `<folder>/processes/<name>.json` for later runs.
 *
 * Fails when the program cannot be executed. For its readiness see `untilReady`.
 */
export async function startProcess(folder: string, spec: ProcessSpec): Promise<ProcessRecord> {
  const logFile = join(folder, "log", `${spec.name}.log`);
  await mkdir(join(folder, "log"), { recursive: true });
  await mkdir(join(folder, "processes"), { recursive: true });
  const pid = await spawnDetached(spec, logFile);
  const startedAt = startOf(pid);
  if (startedAt === undefined) throw new Error(endedMessage({ name: spec.name, logFile }));
  const record = { name: spec.name, pid, startedAt, logFile, spec };
  await writeWhole(recordFile(folder, spec.name), JSON.stringify(record), 0o600);
  return record;
}

/** Ensures that a program with its state in that folder runs and is ready; a running one is not restarted. */
export async function keepRunning(folder: string, spec: ProcessSpec, ready: Wait["check"]): Promise<void> {
  const running = await runningProcess(folder, spec.name);
  await untilReady(running ?? (await startProcess(folder, spec)), ready);
}

/** Waits until a started program is ready; fails at once, with the end of its log, when it ends. */
export async function untilReady(record: ProcessRecord, check: Wait["check"], deadlineMs = 60_000): Promise<void> {
  const giveUp = () => {
    if (!isAlive(record)) throw new Error(endedMessage(record));
  };
  try {
    await waitUntil({ what: `${record.name} to be ready`, check, deadlineMs, giveUp });
  } catch (error) {
    if (!isAlive(record)) throw error;
    throw new Error(`${record.name} is running but not ready. ${logHint(record)}`, { cause: error });
  }
}

/** True while exactly that program runs; a later process with the same pid does not count. */
export function isAlive({ pid, startedAt }: Pick<ProcessRecord, "pid" | "startedAt">): boolean {
  return startOf(pid) === startedAt;
}

/** Programs recorded in the folder, running or not, oldest first. */
export async function recordedProcesses(folder: string): Promise<ProcessRecord[]> {
  const names = await readdir(join(folder, "processes")).catch(onCode(["ENOENT"], []));
  const files = names.filter((name) => name.endsWith(".json")).map((name) => join(folder, "processes", name));
  const records = (await Promise.all(files.map(readRecord))).filter((record) => record !== undefined);
  return records.sort((a, b) => Number(a.startedAt) - Number(b.startedAt));
}

/** The program of that name recorded in the folder, running or not. */
export function recordedProcess(folder: string, name: string): Promise<ProcessRecord | undefined> {
  return readRecord(recordFile(folder, name));
}

/** The running program of that name recorded in the folder. */
export async function runningProcess(folder: string, name: string): Promise<ProcessRecord | undefined> {
  const record = await recordedProcess(folder, name);
  return record && isAlive(record) ? record : undefined;
}

/**
 * Ends a recorded program, waits until it is gone and removes its record: SIGTERM, then SIGKILL after the grace period
 * (milliseconds; 0 = SIGKILL at once).
 */
export async function stopProcess(folder: string, record: ProcessRecord, graceMs: number): Promise<void> {
  if (graceMs > 0 && signalProcess(record, "SIGTERM")) {
    await gone(record, graceMs).catch(() => signalProcess(record, "SIGKILL"));
  }
  signalProcess(record, "SIGKILL");
  await gone(record, 10_000);
  await rm(recordFile(folder, record.name), { force: true });
}

async function spawnDetached(spec: ProcessSpec, logFile: string): Promise<number> {
  const log = openSync(logFile, "a");
  try {
    const [command = "", ...args] = commandLine(spec);
    const env = withSystemPath({ ...withoutProxies(process.env), ...spec.env });
    const child = spawn(command, args, {
      ...workplace(spec),
      env,
      detached: true,
      stdio: ["ignore", log, log],
    });
    await once(child, "spawn");
    child.unref();
    return child.pid as number;
  } finally {
    closeSync(log);
  }
}

/** setpriv(1) replaces itself by the program, so the pid is the program's own. */
function commandLine({ diesWithUs, command, args }: ProcessSpec): string[] {
  return diesWithUs ? ["setpriv", "--pdeathsig", "KILL", "--", command, ...args] : [command, ...args];
}

function signalProcess(record: ProcessRecord, signal: NodeJS.Signals): boolean {
  return isAlive(record) && sendSignal(record.pid, signal);
}

/** Sends a signal; answers false when the process has ended. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
    throw error;
  }
}

function gone(record: ProcessRecord, deadlineMs: number): Promise<void> {
  return waitUntil({ what: `the end of ${record.name}`, check: () => !isAlive(record), deadlineMs });
}

function recordFile(folder: string, name: string): string {
  return join(folder, "processes", `${name}.json`);
}

function endedMessage(record: Pick<ProcessRecord, "name" | "logFile">): string {
  return `${record.name} ended while it was starting. ${logHint(record)}`;
}

function logHint({ logFile }: Pick<ProcessRecord, "logFile">): string {
  const end = readFileSync(logFile, "utf8").trimEnd().split("\n").slice(-8).join("\n");
  return `The end of its log (${logFile}):\n${end}\nStop what is left with "${makeCommand("down")}", then start again.`;
}

async function readRecord(file: string): Promise<ProcessRecord | undefined> {
  const content = await readFile(file, "utf8").catch(onCode(["ENOENT"], undefined));
  return content === undefined ? undefined : JSON.parse(content);
}
