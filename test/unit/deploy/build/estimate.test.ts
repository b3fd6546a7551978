import { describe, expect, test } from "@jest/globals";
import { estimate, words } from "../../../../deploy/build/estimate.ts";

const weights = [600, 300, 100];

describe("how long a number of builds takes", () => {
  test.each([
    {
      name: "is first told by processors that are all busy",
      given: { done: { steps: 0, seconds: 0 }, seconds: 0 },
      expected: { seconds: 0, ofSeconds: 500 },
    },
    {
      name: "follows the pace of what is done: twice as slow, twice as long",
      given: { done: { steps: 1, seconds: 600 }, seconds: 700 },
      expected: { seconds: 700, ofSeconds: 1000 },
    },
    {
      name: "grows with a step that takes longer than its share",
      given: { done: { steps: 1, seconds: 600 }, seconds: 1000 },
      expected: { seconds: 1000, ofSeconds: 1100 },
    },
    {
      name: "is over with the last step",
      given: { done: { steps: 3, seconds: 900 }, seconds: 900 },
      expected: { seconds: 900, ofSeconds: 900 },
    },
  ])("$name", ({ given, expected }) => {
    expect(estimate({ weights, processors: 2, ...given })).toEqual(expected);
  });

  test("is not estimated without measured steps", () => {
    const given = { weights: [0, 0], processors: 2, done: { steps: 0, seconds: 0 }, seconds: 3 };
    expect(estimate(given)).toBeUndefined();
  });

  test.each([
    [{ seconds: 130, ofSeconds: 700 }, "about 2 of 12 min"],
    [{ seconds: 0, ofSeconds: 700 }, "about 0 of 12 min"],
    [{ seconds: 25, ofSeconds: 65 }, "about 20 of 70 s"],
  ])("is told in round numbers", (told, expected) => {
    expect(words(told)).toBe(expected);
  });
});
