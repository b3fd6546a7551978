import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type BenchWorld, createBenchWorld } from "../../bench/operator/bench-world.ts";
import { measureBystanders } from "../../bench/operator/bystanders.ts";
import { measureCreations } from "../../bench/operator/creations.ts";
import { makeCrowd, makeDue } from "../../bench/operator/crowd.ts";
import { measureExpiry } from "../../bench/operator/expiry.ts";
import { measureBefore, measureRestarts } from "../../bench/operator/restart.ts";
import { isHeld, report } from "../../bench/verdict.ts";

/** Tests that the benchmark measures, with a few environments; no test checks their speed. */
let bench: BenchWorld;

beforeAll(async () => {
  bench = await createBenchWorld();
}, 60_000);
afterAll(() => bench.stop(), 60_000);

test("creations are measured beside a plain client that comes to the same objects", async () => {
  const verdicts = await measureCreations(bench, { rounds: 1, warmUp: 1, single: 2, many: 4, blocks: 4 });
  // In so short a burst no Event may be written.
  for (const { figure } of verdicts) expect(Number.isFinite(figure)).toBe(true);
  expect(report(verdicts)).toMatch(/held/i);

  const [operators, plain] = await Promise.all([inventoryOf("operator-0-0"), inventoryOf("plain-0-0")]);
  expect(plain).toEqual(operators);
}, 120_000);

test("bystanders are measured beside broken environments", async () => {
  const { figure } = await measureBystanders(bench, { rounds: 1, each: 4, slow: 4 });
  expect(figure).toBeGreaterThan(0);
}, 240_000);

test("a crowd of copies needs no write from an operator that starts, and those that are due go", async () => {
  const sizes = { restarts: 1, calmMs: 500 };
  const crowd = { environments: 40, due: 5 };
  const due = await makeDue(bench, crowd);
  const before = await measureBefore(bench, sizes);
  await makeCrowd(bench, crowd);
  const verdicts = [...(await measureRestarts(bench, before, sizes)), await measureExpiry(bench, due)];
  expect(verdicts.filter(({ what }) => what.includes("writes")).map(isHeld)).toEqual([true]);
  for (const { figure } of verdicts) expect(Number.isFinite(figure)).toBe(true);
}, 180_000);

async function inventoryOf(name: string): Promise<string[]> {
  const environment = await bench.world.find(name);
  if (environment === undefined) throw new Error(`'${name}' is not there`);
  const titles = [...(await bench.world.inventory(environment)).keys()];
  return titles.map((title) => title.replace(name, "NAME").replace(environment.metadata.uid.slice(0, 8), "UID")).sort();
}
