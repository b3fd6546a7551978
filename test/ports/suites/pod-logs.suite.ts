import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ClusterUnavailable } from "../../../crds/errors.ts";
import type { Component } from "../../../crds/names.ts";
import type { FollowedLine, FollowedSelection, LogLine, LogTarget, PodLogs } from "../../../operator/ports/api/pods.ts";
import type { Owner } from "../../../operator/ports/cluster.ts";
import { until } from "../../support/fixtures/until.ts";

export interface PodLogsWorld {
  readonly podLogs: PodLogs;
  write(environment: string, component: Component, line: { readonly at: Date; readonly text: string }): void;
  setReachable(reachable: boolean): void;
  stop(): Promise<void>;
}

export const shop = { name: "shop", uid: "u" };
/** The pods that labels assign to the backend. */
export const backend: LogTarget = { component: "backend", selectors: { backend: {}, frontend: {} } };
/** A time before now, in milliseconds: containers write now. */
export const ago = (ms: number) => new Date(Date.now() - ms);
export const textsOf = (lines: readonly LogLine[]) => lines.map(({ text }) => text);

const at = (moment: Date | undefined) => expect.stringMatching(`^${moment?.toISOString().slice(0, -1)}\\d{6}Z$`);

/** Follows and keeps the lines; `stop` ends it and waits for its end. */
export function following(podLogs: PodLogs, selection: Partial<FollowedSelection> = {}, environment: Owner = shop) {
  const ending = new AbortController();
  const lines: FollowedLine[] = [];
  let batches = 0;
  const run = async () => {
    const options = { lines: 100, signal: ending.signal, ...selection };
    for await (const batch of podLogs.follow(environment, backend, options)) {
      lines.push(...batch);
      batches += 1;
    }
  };
  const ended = run();
  return {
    lines,
    get batches() {
      return batches;
    },
    texts: () => textsOf(lines),
    ended,
    stop: () => {
      ending.abort();
      return ended;
    },
  };
}

export function podLogsSuite(name: string, start: () => Promise<PodLogsWorld>): void {
  describe(name, () => {
    let world: PodLogsWorld;
    beforeEach(async () => {
      world = await start();
    });
    afterEach(() => world.stop());

    test("has no lines without pods", async () => {
      expect(await world.podLogs.tail(shop, backend, { lines: 10 })).toEqual([]);
    });

    test("answers the newest lines of the component alone, the oldest first, each with its moment", async () => {
      const moments = [ago(4_000), ago(3_000), ago(2_000)];
      for (const [index, at] of moments.entries()) world.write("shop", "backend", { at, text: `line ${index}` });
      world.write("shop", "frontend", { at: ago(1_000), text: "of the frontend" });
      world.write("other", "backend", { at: ago(1_000), text: "of another environment" });
      expect(await world.podLogs.tail(shop, backend, { lines: 2 })).toEqual([
        { at: at(moments[1]), text: "line 1" },
        { at: at(moments[2]), text: "line 2" },
      ]);
    });

    test("leaves out what is older than was asked for", async () => {
      world.write("shop", "backend", { at: ago(120_000), text: "old" });
      world.write("shop", "backend", { at: ago(1_000), text: "new" });
      expect(textsOf(await world.podLogs.tail(shop, backend, { lines: 10, sinceSeconds: 60 }))).toEqual(["new"]);
    });

    test("shows no colours and no control characters", async () => {
      world.write("shop", "backend", { at: ago(1_000), text: "\u001b[31mred\u001b[0m\u0000\u202e and\ttab" });
      expect(textsOf(await world.podLogs.tail(shop, backend, { lines: 1 }))).toEqual(["red and tab"]);
    });

    test("cuts a line that is longer than 16 KiB", async () => {
      world.write("shop", "backend", { at: ago(1_000), text: "x".repeat(20_000) });
      const [line] = await world.podLogs.tail(shop, backend, { lines: 1 });
      expect(line?.text).toHaveLength(16_384);
      expect(line?.text.endsWith("x…")).toBe(true);
    });

    test("answers at most 1 MiB, the newest", async () => {
      for (let line = 0; line < 100; line += 1)
        world.write("shop", "backend", { at: ago(10_000 - line), text: `${line} ${"x".repeat(16_000)}` });
      const texts = textsOf(await world.podLogs.tail(shop, backend, { lines: 1000 }));
      expect(texts.at(-1)).toMatch(/^99 /);
      expect(texts.join("").length).toBeLessThanOrEqual(1024 ** 2);
      expect(texts.length).toBeGreaterThan(10);
    });

    test("says that the cluster can't be reached", async () => {
      world.setReachable(false);
      await expect(world.podLogs.tail(shop, backend, { lines: 1 })).rejects.toThrow(ClusterUnavailable);
      await expect(following(world.podLogs).ended).rejects.toThrow(ClusterUnavailable);
    }, 30_000);

    describe("for a follower", () => {
      test("sends what there is, then what comes, and ends with the signal", async () => {
        for (const text of ["too old", "one", "two"]) world.write("shop", "backend", { at: new Date(), text });
        const follower = following(world.podLogs, { lines: 2 });
        await until(() => follower.lines.length === 2, { what: "what there is" });
        world.write("shop", "backend", { at: new Date(), text: "three" });
        await until(() => follower.lines.length === 3, { what: "what came" });
        expect(follower.texts()).toEqual(["one", "two", "three"]);
        await follower.stop();
      });

      test("goes on after the last line of an earlier follower, with all that was written meanwhile", async () => {
        world.write("shop", "backend", { at: ago(5_000), text: "known" });
        const [known] = await world.podLogs.tail(shop, backend, { lines: 1 });
        for (const text of ["missed one", "missed two"]) world.write("shop", "backend", { at: ago(4_999), text });
        const follower = following(world.podLogs, { lines: 1, after: known?.at ?? "" });
        await until(() => follower.lines.length === 2, { what: "what was missed" });
        world.write("shop", "backend", { at: new Date(), text: "new" });
        await until(() => follower.lines.length === 3, { what: "what came" });
        expect(follower.texts()).toEqual(["missed one", "missed two", "new"]);
        await follower.stop();
      });

      test("has no lines before there are pods, and then all that they write", async () => {
        const follower = following(world.podLogs);
        world.write("shop", "backend", { at: new Date(), text: "first" });
        await until(() => follower.lines.length === 1, { what: "the first line" });
        expect(follower.texts()).toEqual(["first"]);
        await follower.stop();
      });

      test("is over at once when the signal has ended before", async () => {
        world.write("shop", "backend", { at: new Date(), text: "one" });
        await following(world.podLogs, { signal: AbortSignal.abort() }).ended;
      });
    });
  });
}
