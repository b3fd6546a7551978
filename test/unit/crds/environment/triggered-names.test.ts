import { describe, expect, test } from "@jest/globals";
import {
  branchEnvironmentName,
  isPullRequestName,
  pullRequestEnvironmentName,
} from "../../../../crds/environment/triggered-names.ts";
import { nameProblem } from "../../../../crds/names.ts";

describe("the name of a branch's environment", () => {
  test.each([
    ["feature", "shop-api-feature"],
    ["pr-fix", "shop-api-pr-fix"],
  ])("of %j is %j", (branch, name) => expect(branchEnvironmentName("shop-api", branch)).toBe(name));

  test.each(["pr-7", "x-pr-7"])("of %j does not look like that of a pull request", (branch) => {
    expect(branchEnvironmentName("shop-api", branch)).toMatch(new RegExp(`^shop-api-${branch}-[0-9a-f]{8}$`));
  });
});

const LONG = "r".repeat(50);

test.each(["shop-api", LONG])(
  "the name of a pull request's environment of %j is recognized by its Repository alone",
  (repository) => {
    const name = pullRequestEnvironmentName(repository, 7);
    expect(nameProblem(name)).toBeUndefined();
    expect(isPullRequestName(name, ["shop", repository])).toBe(true);
    expect(isPullRequestName(name, ["shop", `${repository}x`])).toBe(false);
  },
);

test.each([
  ["shop-api-pr-7x", ["shop-api"]],
  ["shop-api-pr-", ["shop-api"]],
  ["shop-api-pr-07", ["shop-api"]],
  ["shop-api", ["shop-api"]],
  ["shop-api-pr-7", []],
])("%j is no pull request's name where the Repositories are %j", (name, repositories) => {
  expect(isPullRequestName(name, repositories)).toBe(false);
});
