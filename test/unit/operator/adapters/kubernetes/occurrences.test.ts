import { expect, test } from "@jest/globals";
import { HOUR_MS } from "../../../../../crds/durations.ts";
import { createOccurrences } from "../../../../../operator/adapters/kubernetes/event-recorder.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";

test("what was not heard of for an hour is forgotten, and what was is remembered", () => {
  const clock = new TestClock();
  const occurrences = createOccurrences(clock);
  for (let index = 0; index < 1_000; index += 1) occurrences.note(`gone-${index}`, "said", true);
  clock.advance(HOUR_MS / 2);
  occurrences.note("living", "said", true);
  expect(occurrences.size).toBe(1_001);
  clock.advance(HOUR_MS / 2);
  expect(occurrences.note("living", "said", true).occurrence.count).toBe(2);
  expect(occurrences.size).toBe(1);
});

test("what is too much is counted, so that the next write has it", () => {
  const clock = new TestClock();
  const occurrences = createOccurrences(clock);
  const note = () => occurrences.note("loud", "said", true);
  const due = Array.from({ length: 30 }, () => note().isDue);
  expect(due.filter(Boolean)).toHaveLength(20);
  clock.advance(60_000);
  expect(note()).toMatchObject({ isDue: true, occurrence: { count: 31 } });
});

test("what happens in one millisecond keeps its order", () => {
  const clock = new TestClock();
  const occurrences = createOccurrences(clock);
  const startAt = clock.now().getTime() * 1000;
  const times = ["one", "two"].map((content) => occurrences.note("content", content, true).occurrence.firstAt);
  expect(times).toEqual([startAt, startAt + 1]);
  clock.advance(1);
  const again = occurrences.note("content", "one", true).occurrence;
  expect(again).toMatchObject({ firstAt: startAt, lastAt: startAt + 1_000 });
});
