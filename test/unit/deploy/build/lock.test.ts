import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { type Lock, withLock } from "../../../../deploy/build/lock.ts";

const module = join(import.meta.dirname, "../../../../deploy/build/lock.ts");
const lockOf = (name: string, deadlineMs: number): Lock => ({ name, what: "the end of the other one", deadlineMs });

describe("a lock", () => {
  let other: ChildProcess | undefined;

  afterEach(async () => {
    if (!other || other.exitCode !== null || other.signalCode !== null) return;
    other.kill("SIGKILL");
    await once(other, "exit");
  });

  /** Another process, which holds the lock until it is killed. */
  async function heldByAnother(name: string): Promise<ChildProcess> {
    const script = `import { withLock } from ${JSON.stringify(module)};
      await withLock(${JSON.stringify(lockOf(name, 5000))}, () => new Promise(() => console.log("held")));`;
    other = spawn(process.execPath, ["--input-type=module", "--eval", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(other.stdout as NodeJS.ReadableStream, "data", { signal: AbortSignal.timeout(10_000) });
    return other;
  }

  test("lets one process at a time work, and each of them once", async () => {
    const name = randomUUID();
    let working = 0;
    const most: number[] = [];
    const work = async () => {
      working += 1;
      most.push(working);
      await new Promise(setImmediate);
      working -= 1;
    };
    await Promise.all(Array.from({ length: 5 }, () => withLock(lockOf(name, 10_000), work)));
    expect(most).toEqual([1, 1, 1, 1, 1]);
  });

  test("is free again after a failure", async () => {
    const name = randomUUID();
    await expect(withLock(lockOf(name, 1000), () => Promise.reject(new Error("broke")))).rejects.toThrow("broke");
    expect(await withLock(lockOf(name, 1000), async () => "mine")).toBe("mine");
  });

  test("keeps another process out until its deadline, and says what it waited for", async () => {
    const name = randomUUID();
    await heldByAnother(name);
    const attempt = withLock(lockOf(name, 100), async () => "mine");
    await expect(attempt).rejects.toThrow("the end of the other one did not come within 0.1 s");
  });

  test("is free when its process was killed", async () => {
    const name = randomUUID();
    const holder = await heldByAnother(name);
    holder.kill("SIGKILL");
    await once(holder, "exit");
    expect(await withLock(lockOf(name, 5000), async () => "mine")).toBe("mine");
  });
});
