import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "@jest/globals";
import { showProgress } from "../../../../deploy/local/progress.ts";

describe("progress in a log", () => {
  const log = () => new PassThrough() as unknown as NodeJS.WriteStream;

  test("names each step that was done and its time, and passes its result on", async () => {
    const stream = log();
    const progress = showProgress(stream);
    expect(await progress.step("build etcd", async () => 42)).toBe(42);
    stream.end();
    expect(await text(stream)).toMatch(/^build etcd: \d+\.\d s\n$/);
  });

  test("does not call a step done that failed", async () => {
    const stream = log();
    const failing = showProgress(stream).step("build etcd", async () => {
      throw new Error("the disk is full");
    });
    await expect(failing).rejects.toThrow("the disk is full");
    stream.end();
    expect(await text(stream)).toBe("");
  });
});
