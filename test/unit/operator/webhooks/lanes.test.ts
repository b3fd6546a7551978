import { expect, test } from "@jest/globals";
import { createLanes } from "../../../../operator/webhooks/lanes.ts";

test("work of one key never overlaps and keeps its order, whatever fails; other keys do not wait", async () => {
  const lanes = createLanes();
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
  const first = lanes.run("one", work("a", held, new Error("a failed")));
  const second = lanes.run("one", work("b"));
  expect(await lanes.run("other", work("c"))).toBe("c");
  release();
  await expect(first).rejects.toThrow("a failed");
  expect(await second).toBe("b");
  expect(log).toEqual(["begin a", "begin c", "end c", "end a", "begin b", "end b"]);
});
