import { expect, test } from "@jest/globals";
import { createAnswers } from "../../../../api/observability/answers.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";

function scene() {
  const clock = new TestClock("2026-01-01T00:00:00.250Z");
  const history = { revision: 1 };
  const answers = createAnswers({ history, rollups: { revision: 1 }, clock });
  let computed = 0;
  const ask = (key = "metrics") =>
    answers.of(key, (now) => {
      computed += 1;
      return { at: now.toISOString() };
    });
  return { clock, history, ask, computed: () => computed };
}

test("an answer is computed once in ten seconds, and anew after every change", () => {
  const { clock, history, ask, computed } = scene();
  expect(ask()).toEqual({ at: "2026-01-01T00:00:00.250Z" });
  clock.advance(9_700);
  expect([ask(), computed()]).toEqual([{ at: "2026-01-01T00:00:00.250Z" }, 1]);
  history.revision = 2;
  expect([ask(), computed()]).toEqual([{ at: "2026-01-01T00:00:09.950Z" }, 2]);
  clock.advance(50);
  expect([ask(), computed()]).toEqual([{ at: "2026-01-01T00:00:10.000Z" }, 3]);
});

test("many questions are answered, however many there were", () => {
  const { ask, computed } = scene();
  for (let number = 0; number < 1_000; number += 1) ask(`metrics ${number}`);
  expect(computed()).toBe(1_000);
  ask("metrics 999");
  expect(computed()).toBe(1_000);
});
