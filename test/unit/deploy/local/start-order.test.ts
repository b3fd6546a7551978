import { describe, expect, test } from "@jest/globals";
import { inOrder, startInOrder } from "../../../../deploy/local/start-order.ts";

const part = (name: string, ...after: string[]) => ({ name, after });

describe("starting parts in order", () => {
  test("puts every part behind those it comes after", () => {
    const parts = [part("proxy", "api"), part("api", "etcd", "network"), part("network"), part("etcd")];
    const names = inOrder(parts).map(({ name }) => name);
    for (const { name, after } of parts) {
      for (const before of after) expect(names.indexOf(before)).toBeLessThan(names.indexOf(name));
    }
  });

  test("starts independent parts at the same time", async () => {
    let release = () => {};
    const both = new Promise<void>((resolve) => {
      release = resolve;
    });
    const started: string[] = [];
    await startInOrder([part("a"), part("b")], async ({ name }) => {
      started.push(name);
      if (started.length === 2) release();
      await both;
    });
    expect(started.sort()).toEqual(["a", "b"]);
  });

  test("starts nothing that waits for a part that failed, and tells that part's failure", async () => {
    const started: string[] = [];
    const starting = startInOrder([part("etcd"), part("api", "etcd"), part("proxy", "api")], async ({ name }) => {
      started.push(name);
      throw new Error(`${name} ended`);
    });
    await expect(starting).rejects.toThrow("etcd ended");
    expect(started).toEqual(["etcd"]);
  });

  test("refuses parts that wait for each other", async () => {
    const waiting = startInOrder([part("a", "b"), part("b", "a")], async () => {});
    await expect(waiting).rejects.toThrow("these parts wait for each other: a, b");
  });

  test("refuses a part that waits for one that does not exist", async () => {
    await expect(startInOrder([part("a", "nothing")], async () => {})).rejects.toThrow("waits for nothing");
  });
});
