import { expect, test } from "@jest/globals";
import { MINUTE_MS } from "../../../../../crds/durations.ts";
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

test("in a burst the eight longest waiting ones go on together every 1.6 s, and all others five seconds after its last piece", async () => {
  const { clock, ended, piece, pass } = burst();
  for (let ms = 0; ms < 8_000; ms += 100) {
    piece();
    await pass(100);
  }
  const eights = (count: number) =>
    Array.from({ length: count }, (_, index) => Array(8).fill((index + 1) * 1_600)).flat();
  expect(ended).toEqual(eights(5));
  for (let ms = 8_000; ms < 12_899; ms += 1) await pass(1);
  expect(ended).toEqual(eights(8));
  await pass(1);
  expect(ended).toEqual([...eights(8), ...Array(16).fill(12_900)]);
  expect(clock.pending).toEqual([]);
});

const endless = [
  { burst: "twenty a second", pieces: () => 4 },
  {
    burst: "ten thousand in a minute, and then one a second",
    pieces: (ms: number) => (ms < MINUTE_MS ? 34 : Number(ms % 1_000 === 0)),
  },
  {
    burst: "1,498 at once, and then one a second",
    pieces: (ms: number) => (ms === 0 ? 1_498 : Number(ms % 1_000 === 0)),
  },
];
test.each(endless)("none waits longer than five minutes in a burst that does not end: $burst", async ({ pieces }) => {
  const { clock, waits, piece, pass } = burst();
  let begun = 0;
  for (let ms = 0; ms < 20 * MINUTE_MS; ms += 200) {
    for (let count = pieces(ms); count > 0; count -= 1, begun += 1) piece();
    await pass(200);
  }
  await pass(5_000);
  expect(waits).toHaveLength(begun);
  expect(Math.max(...waits)).toBeLessThanOrEqual(5 * MINUTE_MS);
  expect(clock.pending).toEqual([]);
});

test("a lone one waits for 1.6 s, and the next one as long", async () => {
  const { clock, ended, piece, pass } = burst();
  for (const count of [1, 2]) {
    piece();
    await pass(1_599);
    expect(ended.length).toBe(count - 1);
    await pass(1);
    expect(ended.length).toBe(count);
  }
  expect(clock.pending).toEqual([]);
});
