import { expect, test } from "@jest/globals";
import { shrinkOldRollups } from "../../../../../operator/controllers/garbage-collection/old-records.ts";
import { memoryRollupStore } from "../../../../support/doubles/memory/costs/rollups.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";

test("old counts are kept by the hour, and for 400 days", async () => {
  const rollupStore = memoryRollupStore();
  const { signal } = new AbortController();
  const content = {
    slots: { "09:00": { requests: 1 }, "09:35": { requests: 2 } },
    writers: { one: { batch: 1, at: "2026-01-01T09:40:00.000Z" } },
  };
  for (const day of ["2024-11-25", "2024-11-27", "2025-12-28", "2025-12-29", "2026-01-01"]) {
    await rollupStore.create(day, content);
  }
  const clock = new TestClock("2026-01-01T10:00:00.000Z");
  const ahead = new TestClock("2027-06-01T10:00:00.000Z");
  const serverClock = { now: async () => clock.now() };
  // A clock that is wrong ends nothing.
  for (const shrink of [
    shrinkOldRollups({ clock: ahead, serverClock, rollupStore }),
    shrinkOldRollups({ clock, serverClock: { now: async () => ahead.now() }, rollupStore }),
  ]) {
    await shrink(signal);
    expect(await rollupStore.list(signal)).toHaveLength(4);
  }
  const shrink = shrinkOldRollups({ clock, serverClock, rollupStore });
  await shrink(signal);
  const found = async () =>
    Object.fromEntries((await rollupStore.list(signal)).map(({ day, slots }) => [day, Object.keys(slots)]));
  const after = {
    "2024-11-27": ["09:00"],
    "2025-12-28": ["09:00"],
    "2025-12-29": ["09:00", "09:35"],
    "2026-01-01": ["09:00", "09:35"],
  };
  expect(await found()).toEqual(after);
  const versions = async () => (await rollupStore.list(signal)).map(({ version }) => version);
  const before = await versions();
  await shrink(signal);
  expect(await versions()).toEqual(before);
  expect((await rollupStore.find("2025-12-28"))?.slots).toEqual({ "09:00": { requests: 3 } });
});
