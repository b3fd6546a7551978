import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { redisSharedCounters } from "../../operator/adapters/redis/shared-counters.ts";
import { CountersUnavailable } from "../../operator/ports/api/shared-counters.ts";
import { memorySharedCounters } from "../support/doubles/memory/shared-counters.ts";
import { type RedisServer, redisServer } from "../support/doubles/redis-server.ts";
import { TestClock } from "../support/doubles/test-clock.ts";
import { silentLog } from "../support/fixtures/silent-log.ts";
import { until } from "../support/fixtures/until.ts";
import { sharedCountersSuite } from "./suites/shared-counters.suite.ts";

/** Longer than a failure is remembered. */
const PAUSE_MS = 10_001;
/** Long enough for a busy machine, which must not count as an unreachable Redis. */
const commandMs = 5_000;

sharedCountersSuite("in memory", async () => {
  const counters = memorySharedCounters();
  return {
    one: counters,
    other: counters,
    setReachable: async (reachable) => counters.setReachable(reachable),
    forgive: () => undefined,
    stop: async () => undefined,
  };
});

sharedCountersSuite("in Redis", async () => {
  const server = await redisServer();
  await server.start();
  const clock = new TestClock();
  const replica = () =>
    redisSharedCounters({ url: server.url, password: server.password, commandMs }, { clock, log: silentLog });
  const [one, other] = [replica(), replica()];
  await until(async () => (await one.state()) === "up" && (await other.state()) === "up", { what: "connections" });
  return {
    one,
    other,
    setReachable: (reachable) => (reachable ? server.start() : server.stop()),
    forgive: () => clock.advance(PAUSE_MS),
    async stop() {
      one.close();
      other.close();
      await server.stop();
    },
  };
});

describe("counters in Redis", () => {
  const minute = { name: "minute", windowMs: 60_000 };
  let server: RedisServer;
  let clock: TestClock;
  let counters: ReturnType<typeof redisSharedCounters>;
  beforeEach(async () => {
    server = await redisServer();
    clock = new TestClock();
  });
  afterEach(async () => {
    counters.close();
    await server.stop();
  });
  const connect = (ms?: number) => {
    counters = redisSharedCounters(
      { url: server.url, password: server.password, ...(ms === undefined ? {} : { commandMs: ms }) },
      { clock, log: silentLog },
    );
  };
  const isUp = async () => (await counters.state()) === "up";

  test("work once it is there, also when it was away at the start", async () => {
    connect(commandMs);
    await expect(counters.increment(minute, "early")).rejects.toThrow(CountersUnavailable);
    await server.start();
    await until(isUp, { what: "the connection" });
    clock.advance(PAUSE_MS);
    expect((await counters.increment(minute, "early")).total).toBe(1);
    expect((await counters.increment(minute, "early")).total).toBe(2);
  });

  test("find their scripts gone when it comes back, and load them again, however often", async () => {
    await server.start();
    connect(commandMs);
    await until(isUp, { what: "the connection" });
    for (const _round of [1, 2, 3]) {
      clock.advance(PAUSE_MS);
      expect((await counters.increment(minute, "again")).total).toBe(1);
      await server.stop();
      await expect(counters.increment(minute, "again")).rejects.toThrow(CountersUnavailable);
      await server.start();
      await until(isUp, { what: "the return" });
    }
  });

  test("delay no caller for one that stands still, and ask it once in ten seconds", async () => {
    await server.start();
    connect();
    await until(isUp, { what: "the connection" });
    server.freeze();
    await expect(counters.increment(minute, "slow")).rejects.toThrow(CountersUnavailable);
    const begunMs = performance.now();
    for (let call = 0; call < 1_000; call++) {
      await expect(counters.increment(minute, "slow")).rejects.toThrow(CountersUnavailable);
    }
    expect(performance.now() - begunMs).toBeLessThan(5_000);
    server.thaw();
    await until(isUp, { what: "the return" });
    await expect(counters.increment(minute, "slow")).rejects.toThrow(CountersUnavailable);
    clock.advance(PAUSE_MS);
    await until(async () => {
      clock.advance(PAUSE_MS);
      return counters.increment(minute, "slow").catch(() => undefined);
    });
  });
});
