import { expect, test } from "@jest/globals";
import { createMemo } from "../../../../api/observability/memo.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";

function scene() {
  const clock = new TestClock("2026-01-01T00:00:00.250Z");
  const history = { revision: 1 };
  const rollups = { summaryRevision: 1 };
  const answers = createMemo({ history, rollups, clock });
  let computed = 0;
  const ask = (key = "metrics") => {
    const compute = (now: Date) => {
      computed += 1;
      return { at: now.toISOString() };
    };
    return answers.of(key, compute);
  };
  return { clock, history, rollups, ask, computed: () => computed };
}

test("an answer is computed once a minute, and anew after every change", () => {
  const { clock, history, ask, computed } = scene();
  expect(ask()).toEqual({ at: "2026-01-01T00:00:00.250Z" });
  clock.advance(59_700);
  expect([ask(), computed()]).toEqual([{ at: "2026-01-01T00:00:00.250Z" }, 1]);
  history.revision = 2;
  expect([ask(), computed()]).toEqual([{ at: "2026-01-01T00:00:59.950Z" }, 2]);
  clock.advance(50);
  expect([ask(), computed()]).toEqual([{ at: "2026-01-01T00:01:00.000Z" }, 3]);
});

test("the sum of a day that is stored is a change, too", () => {
  const { rollups, ask, computed } = scene();
  ask();
  rollups.summaryRevision = 2;
  ask();
  expect(computed()).toBe(2);
});

test("many questions are answered, however many there were", () => {
  const { ask, computed } = scene();
  for (let number = 0; number < 1_000; number += 1) ask(`metrics ${number}`);
  expect(computed()).toBe(1_000);
  ask("metrics 999");
  expect(computed()).toBe(1_000);
});
