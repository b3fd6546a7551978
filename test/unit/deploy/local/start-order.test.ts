import { describe, expect, test } from "@jest/globals";
import { inOrder, startInOrder } from "../../../../deploy/local/start-order.ts";

const component = (name: string, ...after: string[]) => ({ name, after });

describe("starting components in order", () => {
  test("puts every component behind those it comes after", () => {
    const components = [
      component("proxy", "api"),
      component("api", "etcd", "network"),
      component("network"),
      component("etcd"),
    ];
    const names = inOrder(components).map(({ name }) => name);
    for (const { name, after } of components) {
      for (const before of after) expect(names.indexOf(before)).toBeLessThan(names.indexOf(name));
    }
  });

  test("starts a component whose predecessors are ready already", async () => {
    const started: string[] = [];
    const start = async ({ name }: { readonly name: string }) => void started.push(name);
    await startInOrder([component("proxy", "api", "network"), component("api", "network")], start, ["network"]);
    expect(started).toEqual(["api", "proxy"]);
  });

  test("starts independent components at the same time", async () => {
    let release = () => {};
    const both = new Promise<void>((resolve) => {
      release = resolve;
    });
    const started: string[] = [];
    await startInOrder([component("a"), component("b")], async ({ name }) => {
      started.push(name);
      if (started.length === 2) release();
      await both;
    });
    expect(started.sort()).toEqual(["a", "b"]);
  });

  test("starts nothing that waits for a component that failed, and reports that component's failure", async () => {
    const started: string[] = [];
    const starting = startInOrder(
      [component("etcd"), component("api", "etcd"), component("proxy", "api")],
      async ({ name }) => {
        started.push(name);
        throw new Error(`${name} ended`);
      },
    );
    await expect(starting).rejects.toThrow("etcd ended");
    expect(started).toEqual(["etcd"]);
  });

  test("refuses components that wait for each other", async () => {
    const waiting = startInOrder([component("a", "b"), component("b", "a")], async () => {});
    await expect(waiting).rejects.toThrow("these components wait for each other: a, b");
  });

  test("refuses a component that waits for one that does not exist", async () => {
    await expect(startInOrder([component("a", "nothing")], async () => {})).rejects.toThrow("waits for nothing");
  });
});
