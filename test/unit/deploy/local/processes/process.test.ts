import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { run } from "../../../../../deploy/build/run.ts";
import {
  isAlive,
  type ProcessSpec,
  recordedProcesses,
  runningProcess,
  startProcess,
  stopProcess,
  untilReady,
} from "../../../../../deploy/local/processes/process.ts";
import { startOf } from "../../../../../deploy/local/processes/process-start.ts";
import { programUsers } from "../../../../../deploy/local/processes/unprivileged.ts";

describe("a program that is kept running", () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "process-"));
  });

  afterEach(async () => {
    for (const record of await recordedProcesses(folder)) await stopProcess(folder, record, 0);
    await rm(folder, { recursive: true });
  });

  const shell = (script: string): ProcessSpec => ({ name: "program", command: "/bin/sh", args: ["-c", script] });

  test("is found again by its record, and is forgotten when it was stopped", async () => {
    const record = await startProcess(folder, shell("exec sleep 100"));
    expect(await runningProcess(folder, "program")).toEqual(record);
    await stopProcess(folder, record, 5000);
    expect(isAlive(record)).toBe(false);
    expect(await recordedProcesses(folder)).toEqual([]);
  });

  test("is ended by force when it ignores the request", async () => {
    const record = await startProcess(folder, shell("trap '' TERM; echo ready; while :; do sleep 0.05; done"));
    await untilReady(record, async () => (await readFile(record.logFile, "utf8")).includes("ready"));
    await stopProcess(folder, record, 100);
    expect(isAlive(record)).toBe(false);
  });

  test("that ends while it starts is an error with the end of its log", async () => {
    const start = async () => {
      const record = await startProcess(folder, shell("echo the disk is full; exit 1"));
      await untilReady(record, () => false);
    };
    await expect(start()).rejects.toThrow(/program ended while it was starting[\s\S]*the disk is full[\s\S]*make down/);
  });

  test("that never becomes ready is an error with its log", async () => {
    const record = await startProcess(folder, shell("echo still trying; exec sleep 100"));
    await untilReady(record, async () => (await readFile(record.logFile, "utf8")).includes("still trying"));
    await expect(untilReady(record, () => false, 200)).rejects.toThrow(/is running but not ready[\s\S]*still trying/);
  });

  const isRoot = process.getuid?.() === 0;
  const user = { uid: programUsers.gitServer.uid, gid: programUsers.gitServer.gid };
  (isRoot ? test : test.skip)("works in a folder that its user can enter, wherever we were started", async () => {
    const record = await startProcess(folder, { ...shell("pwd; echo done; exec sleep 100"), ...user });
    await untilReady(record, async () => (await readFile(record.logFile, "utf8")).includes("done"));
    expect(await readFile(record.logFile, "utf8")).toBe("/\ndone\n");
    expect(await run("/bin/sh", ["-c", "pwd"], user)).toBe("/\n");
  });

  test("works where we were started when it runs as our own user", async () => {
    expect(await run("/bin/sh", ["-c", "pwd -P"])).toBe(`${process.cwd()}\n`);
  });

  test("that does not exist is an error", async () => {
    await expect(startProcess(folder, { name: "none", command: "/nowhere/none", args: [] })).rejects.toThrow("ENOENT");
  });

  test("is distinguished from a later process with its pid", () => {
    const startedAt = startOf(process.pid) ?? "";
    expect(isAlive({ pid: process.pid, startedAt })).toBe(true);
    expect(isAlive({ pid: process.pid, startedAt: String(Number(startedAt) - 1) })).toBe(false);
  });
});
