import { expect, test } from "@jest/globals";
import { flushRegularly } from "../../../../operator/rollups/recorder.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";
import { until } from "../../../support/fixtures/until.ts";

const EVERY_MS = 10_000;
const LAST_MS = 2_000;

test("counts are stored every ten seconds and at the end, which leaves no timer behind", async () => {
  const clock = new TestClock();
  let flushes = 0;
  const flush = async () => {
    flushes += 1;
  };
  const end = flushRegularly({ flush }, clock);
  for (const times of [1, 2]) {
    await until(() => clock.pending.includes(EVERY_MS));
    clock.advance(EVERY_MS);
    await until(() => flushes === times);
  }
  await end();
  expect(flushes).toBe(3);
  expect(clock.pending).toEqual([]);
});

test("the end waits two seconds for counts that can't be stored", async () => {
  const clock = new TestClock();
  const end = flushRegularly({ flush: () => new Promise(() => undefined) }, clock);
  const ended = end();
  await until(() => clock.pending.includes(LAST_MS));
  clock.advance(LAST_MS);
  await ended;
});
