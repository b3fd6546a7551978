import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "@jest/globals";
import { estimate, type Progress, planned, showProgress, words } from "../../../../deploy/build/progress.ts";

describe("progress in a log", () => {
  const log = () => new PassThrough() as unknown as NodeJS.WriteStream;

  test("names each step that was done and its time, and passes its result on", async () => {
    const stream = log();
    const progress = showProgress(stream);
    expect(await progress.step("build etcd", async () => 42)).toBe(42);
    stream.end();
    expect(await text(stream)).toMatch(/^build etcd: \d+\.\d s\n$/);
  });

  test("numbers the steps of a plan as they begin, and shows how far all of them are", async () => {
    const shown: string[] = [];
    const progress: Progress = {
      async step(name, work, detail = () => "") {
        shown.push(name + detail());
        const result = await work();
        shown.push(name + detail());
        return result;
      },
    };
    let nowMs = 0;
    const plan = [
      { name: "build etcd", weight: 600 },
      { name: "build traefik", weight: 600 },
    ];
    const steps = planned(progress, plan, { now: () => nowMs, processors: 2 });
    await steps.step("build etcd", async () => {
      nowMs = 120_000;
    });
    await steps.step("build traefik", async () => {
      nowMs = 240_000;
    });
    expect(shown).toEqual([
      "1/2 build etcd, about 0 of 10 min",
      "1/2 build etcd, about 2 of 4 min",
      "2/2 build traefik, about 2 of 4 min",
      "2/2 build traefik, about 4 of 4 min",
    ]);
  });

  test("numbers steps whose time is not estimated", async () => {
    const stream = log();
    await planned(showProgress(stream), [{ name: "etcd" }, { name: "dns" }]).step("etcd", async () => undefined);
    stream.end();
    expect(await text(stream)).toMatch(/^1\/2 etcd: \d+\.\d s\n$/);
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

const weights = [600, 300, 100];

describe("how long a number of builds takes", () => {
  test.each([
    {
      name: "first assumes processors that are all busy",
      given: { done: { steps: 0, seconds: 0 }, seconds: 0 },
      expected: { seconds: 0, ofSeconds: 500 },
    },
    {
      name: "follows the pace of what is done: twice as slow, twice as long",
      given: { done: { steps: 1, seconds: 600 }, seconds: 700 },
      expected: { seconds: 700, ofSeconds: 1000 },
    },
    {
      name: "grows with a step that takes longer than its share",
      given: { done: { steps: 1, seconds: 600 }, seconds: 1000 },
      expected: { seconds: 1000, ofSeconds: 1100 },
    },
    {
      name: "is over with the last step",
      given: { done: { steps: 3, seconds: 900 }, seconds: 900 },
      expected: { seconds: 900, ofSeconds: 900 },
    },
  ])("$name", ({ given, expected }) => {
    expect(estimate({ weights, processors: 2, ...given })).toEqual(expected);
  });

  test("is not estimated without measured steps", () => {
    const given = { weights: [0, 0], processors: 2, done: { steps: 0, seconds: 0 }, seconds: 3 };
    expect(estimate(given)).toBeUndefined();
  });

  test.each([
    [{ seconds: 130, ofSeconds: 700 }, "about 2 of 12 min"],
    [{ seconds: 0, ofSeconds: 700 }, "about 0 of 12 min"],
    [{ seconds: 25, ofSeconds: 65 }, "about 20 of 70 s"],
  ])("is shown in round numbers", (reported, expected) => {
    expect(words(reported)).toBe(expected);
  });
});
