import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { withFileLock } from "../../../../clients/cli/auth/file-lock.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "eenv-lock-"));
});
afterAll(() => rm(folder, { recursive: true }));

test("work under a lock is never done side by side, also after one that failed", async () => {
  const file = join(folder, "missing/one");
  let inside = 0;
  const work = (index: number) =>
    withFileLock(file, async () => {
      inside += 1;
      await new Promise(setImmediate);
      expect(inside).toBe(1);
      inside -= 1;
      if (index === 1) throw new Error("failed");
      return index;
    });
  const results = await Promise.allSettled([0, 1, 2, 3].map(work));
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
  expect(existsSync(file)).toBe(false);
});

test("a lock that a killed process left behind is taken once it is older than any work", async () => {
  const file = join(folder, "left");
  await writeFile(file, "1");
  const longAgo = Date.now() / 1000 - 120;
  await utimes(file, longAgo, longAgo);
  expect(await withFileLock(file, async () => "done")).toBe("done");
});

test("a process that exits in the middle of its work gives the lock back", async () => {
  const file = join(folder, "exited");
  const module = resolve(import.meta.dirname, "../../../../clients/cli/auth/file-lock.ts");
  const script = `const { withFileLock } = await import(${JSON.stringify(module)});
    await withFileLock(${JSON.stringify(file)}, async () => process.exit(7));`;
  const code = await new Promise((exited) =>
    execFile(process.execPath, ["--input-type=module", "--eval", script]).once("exit", exited),
  );
  expect(code).toBe(7);
  expect(existsSync(file)).toBe(false);
});
