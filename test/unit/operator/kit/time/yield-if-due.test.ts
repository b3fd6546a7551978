import { expect, test } from "@jest/globals";
import { laterTurn, yieldIfDue } from "../../../../../operator/kit/time/yield-if-due.ts";

const busy = (ms: number) => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

async function counted(work: (turn: () => number) => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await work(() => turns);
  isOver = true;
  return turns;
}

async function oneAfterTheOther(pieces: number, eachMs: number): Promise<void> {
  for (let piece = 0; piece < pieces; piece += 1) {
    busy(eachMs);
    await yieldIfDue();
  }
}

test("long work lets the event loop go on now and then", async () => {
  expect(await counted(() => oneAfterTheOther(20, 5))).toBeGreaterThanOrEqual(15);
});

test("short work stays in its turn", async () => {
  expect(await counted(() => oneAfterTheOther(20, 0))).toBeLessThan(5);
});

test("pieces of work that must not delay the current one run in a later turn each, however young this one is", async () => {
  const begun: number[] = [];
  await counted(async (turn) => {
    await laterTurn("background");
    // Released work itself, in which others would go on at once.
    const current = turn();
    const piece = async () => {
      await laterTurn("background");
      begun.push(turn() - current);
      busy(3);
    };
    await Promise.all(Array.from({ length: 5 }, piece));
  });
  expect(Math.min(...begun)).toBeGreaterThan(0);
  expect(new Set(begun).size).toBe(5);
});

test("of many that wait, no more go on in one turn than fit into it", async () => {
  const inTurn = new Map<number, number>();
  await counted((turn) => {
    const work = async () => {
      await yieldIfDue();
      inTurn.set(turn(), (inTurn.get(turn()) ?? 0) + 1);
      busy(3);
    };
    busy(5);
    return Promise.all(Array.from({ length: 12 }, work));
  });
  expect(Math.max(...inTurn.values())).toBeLessThan(6);
});

test("a piece of many awaits has run before the next one goes on", async () => {
  const inTurn = new Map<number, number>();
  await counted((turn) => {
    const work = async () => {
      await yieldIfDue("background");
      for (let step = 0; step < 8; step += 1) await Promise.resolve();
      inTurn.set(turn(), (inTurn.get(turn()) ?? 0) + 1);
      busy(3);
    };
    busy(5);
    return Promise.all(Array.from({ length: 12 }, work));
  });
  expect(Math.max(...inTurn.values())).toBeLessThan(6);
});

test("what others wait for goes on before the background, which goes on all the same", async () => {
  const order: string[] = [];
  busy(5);
  const work = async (rank: "foreground" | "background", pieces: number) => {
    for (let piece = 0; piece < pieces; piece += 1) {
      await yieldIfDue(rank);
      order.push(rank);
      busy(3);
    }
  };
  await Promise.all([...Array.from({ length: 8 }, () => work("background", 1)), work("foreground", 6)]);
  // At most one of the background between two of the foreground, and some of it before the foreground is over.
  const last = order.lastIndexOf("foreground");
  const before = order.slice(0, last).filter((rank) => rank === "background").length;
  expect(before).toBeGreaterThan(1);
  expect(before).toBeLessThanOrEqual(6);
});
