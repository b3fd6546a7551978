import { expect, test } from "@jest/globals";
import { oncePer } from "../../../../../operator/environment/desired/once-per.ts";

test("an answer is computed once for an object, and anew for an equal one that may differ later", () => {
  const doubled = oncePer(({ amount }: { amount: number }) => ({ amount: amount * 2 }));
  const [one, other] = [{ amount: 1 }, { amount: 1 }];
  expect(doubled(one)).toBe(doubled(one));
  expect(doubled(other)).toEqual({ amount: 2 });
  expect(doubled(other)).not.toBe(doubled(one));
});
