import { expect, test } from "@jest/globals";
import { fairShare } from "../../../../operator/kit/surplus.ts";

test.each([
  ["all, where there is room for all", [3, 2], 10, 10],
  ["half each of two that have more", [10, 10], 6, 3],
  ["what those leave that have less", [1, 10, 10], 9, 4],
  ["rather less than more", [10, 10, 10], 10, 3],
  ["nothing where there is no room", [1, 1], 0, 0],
  ["all of nothing", [], 5, 5],
])("an owner keeps %s", (_what, counts, atMost, share) => {
  expect(fairShare(counts, atMost)).toBe(share);
});
