import { expect, test } from "@jest/globals";
import { burstEnd } from "../../../../../operator/adapters/kubernetes/event-recorder.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";

function burst() {
  const clock = new TestClock();
  const inBurst = burstEnd(clock);
  const ended: number[] = [];
  const began = clock.monotonicMs();
  const piece = () => void inBurst().then(() => ended.push(clock.monotonicMs() - began));
  const pass = async (ms: number) => {
    clock.advance(ms);
    await new Promise(setImmediate);
  };
  return { clock, ended, piece, pass };
}

test("in a burst the longest waiting one goes on in each tenth of a second, and all others a second after its last piece", async () => {
  const { clock, ended, piece, pass } = burst();
  for (let ms = 0; ms < 5_000; ms += 50) {
    piece();
    await pass(50);
  }
  const tenths = (count: number) => Array.from({ length: count }, (_, index) => (index + 1) * 100);
  expect(ended).toEqual(tenths(50));
  for (let ms = 5_000; ms < 5_949; ms += 1) await pass(1);
  expect(ended).toEqual(tenths(59));
  await pass(1);
  expect(ended).toEqual([...tenths(59), ...Array(41).fill(5_950)]);
  expect(clock.pending).toEqual([]);
});

test("a lone one waits for a tenth of a second, and the next one as long", async () => {
  const { clock, ended, piece, pass } = burst();
  for (const count of [1, 2]) {
    piece();
    await pass(99);
    expect(ended.length).toBe(count - 1);
    await pass(1);
    expect(ended.length).toBe(count);
  }
  expect(clock.pending).toEqual([]);
});
