import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { waitUntil } from "../../../../../deploy/build/wait.ts";
import {
  isAlive,
  type ProcessSpec,
  recordedProcesses,
  runningProcess,
  startProcess,
  stopProcess,
} from "../../../../../deploy/local/processes/process.ts";
import {
  type Restart,
  stopSupervisor,
  supervise,
  withoutSupervisor,
} from "../../../../../deploy/local/processes/supervisor.ts";

const DEADLINE_MS = 10_000;
const times = { pollMs: 10, firstDelayMs: 50, longestDelayMs: 200, stableMs: 60_000 };
const program: ProcessSpec = { name: "program", command: "/bin/sh", args: ["-c", "exec sleep 100"] };

describe("the supervisor of recorded programs", () => {
  let folder: string;
  let lines: string[];
  let restarts: Map<string, Restart>;
  let stopping: AbortController;
  let supervised: Promise<void>;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "supervisor-"));
    lines = [];
    restarts = new Map();
    stopping = new AbortController();
  });

  afterEach(async () => {
    stopping.abort();
    await supervised;
    await stopSupervisor(folder);
    for (const record of await recordedProcesses(folder)) await stopProcess(folder, record, 0);
    await rm(folder, { recursive: true });
  });

  const begin = () => {
    supervised = supervise(folder, stopping.signal, (line) => lines.push(line), { delays: times, restarts });
  };

  const until = (what: string, check: () => Promise<boolean> | boolean) =>
    waitUntil({ what, check, deadlineMs: DEADLINE_MS });

  test("restarts a killed program with the same arguments under another pid", async () => {
    const spec = { ...program, args: ["-c", 'echo "$COLOUR"; exec sleep 100'], env: { COLOUR: "green" } };
    const killed = await startProcess(folder, spec);
    begin();
    await until("its first output", async () => (await readFile(killed.logFile, "utf8")) === "green\n");
    process.kill(killed.pid, "SIGKILL");
    await until(
      "another one",
      async () => ((await runningProcess(folder, "program"))?.pid ?? killed.pid) !== killed.pid,
    );
    await until("the same output", async () => (await readFile(killed.logFile, "utf8")) === "green\ngreen\n");
    await until("two lines in its log", () => lines.length >= 2);
    expect(lines).toEqual([
      `program (${killed.pid}) has ended; it is started again in 0.05 s`,
      `program was started again (${(await runningProcess(folder, "program"))?.pid})`,
    ]);
  });

  test("waits longer before each restart of a program that keeps ending, up to a limit", async () => {
    await startProcess(folder, { ...program, args: ["-c", "sleep 0.1; exit 1"] });
    begin();
    const delays = () => lines.flatMap((line) => /again in (.+) s$/.exec(line)?.[1] ?? []);
    await until("the fifth end", () => delays().length >= 5);
    expect(delays().slice(0, 5)).toEqual(["0.05", "0.1", "0.2", "0.2", "0.2"]);
  });

  test("that has forgotten past ends waits as after the first", async () => {
    await startProcess(folder, { ...program, args: ["-c", "sleep 0.1; exit 1"] });
    begin();
    const delays = () => lines.flatMap((line) => /again in (.+) s$/.exec(line)?.[1] ?? []);
    await until("the second end", () => delays().length === 2);
    restarts.clear();
    await until("the third end", () => delays().length >= 3);
    expect(delays().slice(0, 3)).toEqual(["0.05", "0.1", "0.05"]);
  });

  test("starts no program that was stopped before, and none that runs", async () => {
    const stopped = await startProcess(folder, program);
    const other = await startProcess(folder, { ...program, name: "other" });
    await stopProcess(folder, stopped, 0);
    begin();
    const killed = await startProcess(folder, { ...program, name: "third" });
    process.kill(killed.pid, "SIGKILL");
    await until("the third", async () => lines.some((line) => line.startsWith("third was started again")));
    expect(await runningProcess(folder, "program")).toBeUndefined();
    expect(await runningProcess(folder, "other")).toEqual(other);
    expect(lines.filter((line) => /^(program|other) was started/.test(line))).toEqual([]);
  });

  test("runs as a process of its own after the work, and not during it", async () => {
    await withoutSupervisor(folder, async () => undefined);
    const first = await runningProcess(folder, "supervisor");
    expect(first).toBeDefined();
    await withoutSupervisor(folder, async () => {
      expect(first && isAlive(first)).toBe(false);
      expect(await runningProcess(folder, "supervisor")).toBeUndefined();
    });
    expect((await runningProcess(folder, "supervisor"))?.pid).not.toBe(first?.pid);
  });

  test("does not start after a failed start", async () => {
    const failed = withoutSupervisor(folder, () => Promise.reject(new Error("the disk is full")));
    await expect(failed).rejects.toThrow("the disk is full");
    expect(await runningProcess(folder, "supervisor")).toBeUndefined();
  });
});
