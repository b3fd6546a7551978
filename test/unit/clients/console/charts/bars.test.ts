import { describe, expect, test } from "@jest/globals";
import { barsOf, HEIGHT, WIDTH } from "../../../../../clients/console/charts/bars.ts";
import { groupName, personName } from "../../../../../clients/console/charts/group-name.ts";

describe("bars", () => {
  const bars = barsOf([
    { label: "Monday", values: [4, 1] },
    { label: "Tuesday", values: [null, 2] },
    { label: "Wednesday", values: [0, null] },
  ]);

  test("are as high as their share of the highest, and stand on the ground", () => {
    expect(bars.map(({ column, series, height }) => [column, series, height])).toEqual([
      [0, 0, HEIGHT],
      [0, 1, HEIGHT / 4],
      [1, 1, HEIGHT / 2],
    ]);
    for (const { y, height } of bars) expect(y + height).toBeCloseTo(HEIGHT);
  });

  test("never cover each other, nor leave the chart", () => {
    for (const [index, { x, width }] of bars.entries()) {
      expect(x + width).toBeLessThanOrEqual(bars[index + 1]?.x ?? WIDTH);
    }
  });

  test("of nothing are none", () => {
    expect(barsOf([{ label: "Monday", values: [0, null] }])).toEqual([]);
    expect(barsOf([])).toEqual([]);
  });
});

test.each([
  [{ id: "shop-api", kind: "named" }, "shop-api"],
  [{ id: null, kind: "none" }, "none"],
  [{ id: null, kind: "other" }, "all others"],
] as const)("the row %j is called '%s'", (row, name) => {
  expect(groupName(row)).toBe(name);
});

test("a person is called by the best that is known", () => {
  const people = [
    { id: "https://issuer#dev", name: "Dev", email: "dev@example.test" },
    { id: "https://issuer#col", name: "", email: "col@example.test" },
  ];
  const ids = ["https://issuer#dev", "https://issuer#col", "https://issuer#gone", null];
  expect(ids.map((id) => personName(id, people))).toEqual(["Dev", "col@example.test", "gone", null]);
});
