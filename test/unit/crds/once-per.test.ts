import { expect, test } from "@jest/globals";
import { oncePer } from "../../../crds/once-per.ts";

test("an answer is computed once for an object, and anew for an equal one that may differ later", () => {
  const doubled = oncePer(({ amount }: { amount: number }) => ({ amount: amount * 2 }));
  const [one, other] = [{ amount: 1 }, { amount: 1 }];
  expect(doubled(one)).toBe(doubled(one));
  expect(doubled(other)).toEqual({ amount: 2 });
  expect(doubled(other)).not.toBe(doubled(one));
});

test("further arguments of an answer reach the first computation only", () => {
  const scaled = oncePer(({ amount }: { amount: number }, factor: number) => ({ amount: amount * factor }));
  const one = { amount: 2 };
  expect(scaled(one, 3)).toEqual({ amount: 6 });
  expect(scaled(one, 4)).toBe(scaled(one, 3));
});
