import { expect, test } from "@jest/globals";
import { createKeyedMutex } from "../../../../operator/kit/keyed-mutex.ts";

test("work of one key never overlaps and keeps its order, whatever fails; other keys do not wait", async () => {
  const mutex = createKeyedMutex();
  const log: string[] = [];
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const work = (name: string, wait?: Promise<void>, error?: Error) => async () => {
    log.push(`begin ${name}`);
    await wait;
    log.push(`end ${name}`);
    if (error !== undefined) throw error;
    return name;
  };
  const first = mutex.run("one", work("a", held, new Error("a failed")));
  const second = mutex.run("one", work("b"));
  expect(await mutex.run("other", work("c"))).toBe("c");
  release();
  await expect(first).rejects.toThrow("a failed");
  expect(await second).toBe("b");
  expect(log).toEqual(["begin a", "begin c", "end c", "end a", "begin b", "end b"]);
});

test("work takes the outcome of the work that it waited for", async () => {
  const mutex = createKeyedMutex();
  const outcomes: unknown[] = [];
  const work = (answer: () => Promise<string>) => (before: unknown) => {
    outcomes.push(before);
    return answer();
  };
  const failure = new Error("failed");
  const failed = mutex.run(
    "one",
    work(() => Promise.reject(failure)),
  );
  const made = mutex.run(
    "one",
    work(async () => "made"),
  );
  const last = mutex.run(
    "one",
    work(async () => "last"),
  );
  await Promise.allSettled([failed, made, last]);
  await mutex.run(
    "one",
    work(async () => "alone"),
  );
  const waited = [
    { status: "rejected", reason: failure },
    { status: "fulfilled", value: "made" },
  ];
  expect(outcomes).toEqual([undefined, ...waited, undefined]);
});
