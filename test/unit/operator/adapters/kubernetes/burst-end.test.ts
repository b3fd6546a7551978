import { expect, test } from "@jest/globals";
import { burstEnd } from "../../../../../operator/adapters/kubernetes/event-recorder.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";

function burst() {
  const clock = new TestClock();
  const inBurst = burstEnd(clock);
  const ended: number[] = [];
  const waits: number[] = [];
  const startedMs = clock.monotonicMs();
  const piece = () => {
    const begunMs = clock.monotonicMs();
    void inBurst().then(() => {
      ended.push(clock.monotonicMs() - startedMs);
      waits.push(clock.monotonicMs() - begunMs);
    });
  };
  const pass = async (ms: number) => {
    clock.advance(ms);
    await new Promise(setImmediate);
  };
  return { clock, ended, waits, piece, pass };
}

test("in a burst the eight longest waiting ones go on together every 0.8 s, and all others a second after its last piece", async () => {
  const { clock, ended, piece, pass } = burst();
  for (let ms = 0; ms < 4_000; ms += 50) {
    piece();
    await pass(50);
  }
  const eights = (count: number) =>
    Array.from({ length: count }, (_, index) => Array(8).fill((index + 1) * 800)).flat();
  expect(ended).toEqual(eights(5));
  for (let ms = 4_000; ms < 4_949; ms += 1) await pass(1);
  expect(ended).toEqual(eights(6));
  await pass(1);
  expect(ended).toEqual([...eights(6), ...Array(32).fill(4_950)]);
  expect(clock.pending).toEqual([]);
});

const MINUTE_MS = 60_000;
const endless = [
  { burst: "twenty a second", pieces: (ms: number) => (ms < 20 * MINUTE_MS ? 4 : 0) },
  {
    burst: "ten thousand in a minute, and then one a second",
    pieces: (ms: number) => (ms < MINUTE_MS ? 34 : Number(ms % 1_000 === 0)),
  },
];
test.each(endless)("none waits longer than five minutes in a burst that does not end: $burst", async ({ pieces }) => {
  const { clock, waits, piece, pass } = burst();
  let begun = 0;
  for (let ms = 0; ms < 20 * MINUTE_MS; ms += 200) {
    for (let count = pieces(ms); count > 0; count -= 1, begun += 1) piece();
    await pass(200);
  }
  expect(Math.max(...waits)).toBeLessThanOrEqual(5 * MINUTE_MS);
  await pass(1_000);
  expect(waits).toHaveLength(begun);
  expect(clock.pending).toEqual([]);
});

test("a lone one waits for 0.8 s, and the next one as long", async () => {
  const { clock, ended, piece, pass } = burst();
  for (const count of [1, 2]) {
    piece();
    await pass(799);
    expect(ended.length).toBe(count - 1);
    await pass(1);
    expect(ended.length).toBe(count);
  }
  expect(clock.pending).toEqual([]);
});
