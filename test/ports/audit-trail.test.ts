import { execFile } from "node:child_process";
import { mkdir, mkdtemp, open as openFile, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { jsonAuditTrail } from "../../operator/adapters/audit-log/json-audit-trail.ts";
import { memoryAuditTrail } from "../support/doubles/memory/audit-trail.ts";
import { TestClock } from "../support/doubles/test-clock.ts";
import { silentLog } from "../support/fixtures/silent-log.ts";
import { auditRecord, auditTrailSuite } from "./suites/audit-trail.suite.ts";

auditTrailSuite("in memory", async () => {
  const trail = memoryAuditTrail();
  return {
    trail,
    setWritable: async (writable) => trail.setWritable(writable),
    kept: async () => trail.records.map(({ auditId }) => auditId),
    stop: async () => undefined,
  };
});

const idsIn = (text: string) =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line).auditId as string);

auditTrailSuite("in a file", async () => {
  const parent = await mkdtemp(join(tmpdir(), "audit-trail-"));
  const [here, away] = [join(parent, "audit"), join(parent, "away")];
  await mkdir(here);
  const file = { path: join(here, "audit.log"), maxBytes: 1_000_000, keep: 1 };
  const trail = jsonAuditTrail({ stream: new PassThrough().resume(), file, clock: new TestClock(), log: silentLog });
  return {
    trail,
    setWritable: (writable) => (writable ? rename(away, here) : rename(here, away)),
    kept: async () => idsIn(await readFile(file.path, "utf8")),
    async stop() {
      await trail.close();
      await rm(parent, { recursive: true });
    },
  };
});

describe("the audit trail in a file", () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "audit-trail-"));
    path = join(folder, "audit.log");
  });
  afterEach(() => rm(folder, { recursive: true }));

  const open = (more: { maxBytes?: number; keep?: number; path?: string } = {}) => {
    const stream = new PassThrough({ encoding: "utf8" });
    const file = { path, maxBytes: 1_000_000, keep: 2, ...more };
    return { stream, trail: jsonAuditTrail({ stream, file, clock: new TestClock(), log: silentLog }) };
  };
  const read = async (name = "audit.log") => idsIn(await readFile(join(folder, name), "utf8"));

  test("says the same as the stream: JSON, a line each, distinct from log lines", async () => {
    const { stream, trail } = open();
    await trail.add(auditRecord("one"));
    const line = { log: "audit", time: "2026-01-01T00:00:00.000Z", ...auditRecord("one") };
    expect(stream.read()).toBe(`${JSON.stringify(line)}\n`);
    expect(await readFile(path, "utf8")).toBe(`${JSON.stringify(line)}\n`);
    await trail.close();
  });

  test("rotates at its size, keeps the configured number of older ones, and goes on where it left off", async () => {
    const bytes = `${JSON.stringify({ log: "audit", time: new TestClock().now(), ...auditRecord("1") })}\n`.length;
    const first = open({ maxBytes: 2 * bytes });
    for (const id of ["1", "2", "3"]) await first.trail.add(auditRecord(id));
    await first.trail.close();
    const second = open({ maxBytes: 2 * bytes });
    for (const id of ["4", "5", "6", "7"]) await second.trail.add(auditRecord(id));
    await second.trail.close();
    expect(await Promise.all(["audit.log.2", "audit.log.1", "audit.log"].map(read))).toEqual([
      ["3", "4"],
      ["5", "6"],
      ["7"],
    ]);
    expect((await readdir(folder)).sort()).toEqual(["audit.log", "audit.log.1", "audit.log.2"]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test("begins anew after the file's removal", async () => {
    const { trail } = open();
    await trail.add(auditRecord("1"));
    await rm(path);
    await trail.add(auditRecord("2"));
    expect(await read()).toEqual(["2"]);
    await trail.close();
  });

  test("delays no caller for a disk that stands still, and writes when it goes on", async () => {
    const clock = new TestClock();
    // Opening a FIFO waits for a reader.
    await promisify(execFile)("mkfifo", [path]);
    const stream = new PassThrough().resume();
    const trail = jsonAuditTrail({ stream, file: { path, maxBytes: 1_000, keep: 1 }, clock, log: silentLog });
    const added = trail.add(auditRecord("1"));
    const requested = trail.isKept();
    clock.advance(1_000);
    await added;
    expect(await requested).toBe(false);
    const reader = await openFile(path);
    const { buffer, bytesRead } = await reader.read(Buffer.alloc(1_000));
    expect(idsIn(buffer.toString("utf8", 0, bytesRead))).toEqual(["1"]);
    await trail.close();
    await reader.close();
  });

  test("says at the start that it can't be written", async () => {
    const { trail } = open({ path: join(folder, "absent", "audit.log") });
    expect(await trail.isKept()).toBe(false);
    await trail.add(auditRecord("1"));
    await mkdir(join(folder, "absent"));
    expect(await trail.isKept()).toBe(true);
    expect(await read("absent/audit.log")).toEqual(["1"]);
    await trail.close();
  });
});
