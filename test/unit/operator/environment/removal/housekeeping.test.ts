import { describe, expect, test } from "@jest/globals";
import { CHORES, housekeeping } from "../../../../../operator/environment/removal/housekeeping.ts";
import type { SweepReport } from "../../../../../operator/environment/removal/orphans.ts";
import { silentLog } from "../../../../../operator/kit/log.ts";
import type { RecordBounds } from "../../../../../operator/ports/records.ts";
import { fixtureSettings, minutesLater } from "../../../../support/environment-fixture.ts";
import { TestClock } from "../../../../support/test-clock.ts";

const nothing: SweepReport = { orphans: 0, removing: 0, stuck: 0, removed: 0, isHeld: false };
const HOUR_MS = 3_600_000;

function scene(report: SweepReport = nothing) {
  const done: unknown[] = [];
  const reconcile = housekeeping({
    ...{ settings: fixtureSettings, clock: new TestClock(), log: silentLog, random: () => 0.5 },
    async sweep() {
      done.push("swept");
      return report;
    },
    records: {
      keep: () => Promise.reject(new Error("not asked for")),
      async prune(bounds: RecordBounds) {
        done.push(bounds);
        return { dropped: 0, isMoreLeft: false };
      },
    },
  });
  const signal = new AbortController().signal;
  return { done, pass: (chore: string) => reconcile(chore, { signal }) };
}

describe("housekeeping", () => {
  test("does nothing right after the start", async () => {
    const { done, pass } = scene();
    for (const chore of CHORES) await pass(chore);
    expect(done).toEqual([]);
    expect(await scene().pass("orphans")).toEqual({ recheckAfterMs: 150_000 });
    expect(await scene().pass("records")).toEqual({ recheckAfterMs: HOUR_MS / 2 });
  });

  test.each<[string, SweepReport, number]>([
    ["as usual", nothing, 300_000],
    ["as usual while something is only reported", { ...nothing, orphans: 1 }, 300_000],
    ["as usual while something is stuck", { ...nothing, orphans: 1, stuck: 1 }, 300_000],
    ["soon while something is going", { ...nothing, orphans: 1, removing: 1 }, 10_000],
  ])("looks for orphans again %s", async (_what, report, recheckAfterMs) => {
    const { done, pass } = scene(report);
    await pass("orphans");
    expect(await pass("orphans")).toEqual({ recheckAfterMs });
    expect(done).toEqual(["swept"]);
  });

  test("drops records by number and by age", async () => {
    const { done, pass } = scene();
    await pass("records");
    expect(await pass("records")).toEqual({ recheckAfterMs: HOUR_MS });
    expect(done).toEqual([{ atMost: 10_000, notBefore: new Date(minutesLater(0).getTime() - 90 * 24 * HOUR_MS) }]);
  });
});
