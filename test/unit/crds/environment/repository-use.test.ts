import { describe, expect, test } from "@jest/globals";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { isCrowdedOut, mayHave, sharedGroups, takesPlace } from "../../../../crds/environment/repository-use.ts";
import { environmentFixture, repositoryFixture } from "../../../support/fixtures/environment/environment-fixture.ts";

const shop = repositoryFixture("shop-api", { access: { groups: ["shop", "platform"] }, maxEnvironments: 2 });
const owner = { subject: "https://i.test#dev", email: "", name: "" };
const granted = { sources: { backend: {} } };
const ofGroups = (...groups: string[]): Partial<EnvironmentSpec> => ({ access: { groups } });

describe("a Repository of groups", () => {
  test.each<[string, Partial<EnvironmentSpec>, boolean]>([
    ["an environment of one of them", ofGroups("billing", "shop"), true],
    ["an environment of others", ofGroups("billing"), false],
    ["an environment of none", ofGroups(), false],
    ["an environment that says nothing of groups", {}, false],
    ["one whose owner REST has checked", { owner, ...ofGroups("billing") }, true],
  ])("is for %s: %s", (_what, spec, expected) => {
    expect(mayHave(environmentFixture({ spec }), shop)).toBe(expected);
  });

  test("is for everybody when it names none", () => {
    expect(mayHave(environmentFixture(), repositoryFixture())).toBe(true);
  });
});

describe("a place of a Repository", () => {
  const elsewhere = { repository: "other", branch: "main" };
  const named = { repository: "shop-api", branch: "main" };
  const leaving = { deletionTimestamp: "2026-01-01T00:00:00Z" };
  test.each<[string, Parameters<typeof environmentFixture>[0], boolean]>([
    ["taken by one of its groups", { spec: ofGroups("shop") }, true],
    [
      "taken by one that has it as a frontend",
      { spec: { ...ofGroups("shop"), backend: elsewhere, frontend: named } },
      true,
    ],
    ["free of one that names another", { spec: { ...ofGroups("shop"), backend: elsewhere } }, false],
    ["kept by one that leaves, until it is gone", { spec: ofGroups("shop"), metadata: leaving }, true],
    ["free of one that may not have it", { spec: ofGroups("billing") }, false],
    ["kept by one that had it before the groups changed", { spec: ofGroups("billing"), status: granted }, true],
  ])("is %s", (_what, given, expected) => {
    expect(takesPlace(environmentFixture(given), shop)).toBe(expected);
  });
});

describe("of environments with unasserted claims, with two places,", () => {
  const at = (second: number, name: string, more: Parameters<typeof environmentFixture>[0] = {}) =>
    environmentFixture({
      spec: ofGroups("shop"),
      ...more,
      metadata: { name, uid: name, creationTimestamp: `2026-01-01T00:00:0${second}Z` },
    });
  const crowdedOut = (all: readonly EphemeralEnvironment[], repository = shop) =>
    all.filter((one) => isCrowdedOut(one, repository, () => all)).map(({ metadata }) => metadata.name);

  test.each<[string, EphemeralEnvironment[], string[]]>([
    ["two are let in", [at(1, "a"), at(2, "b")], []],
    ["the youngest waits, in whatever order they are listed", [at(3, "a"), at(1, "c"), at(2, "b")], ["a"]],
    ["of the same second the last by UID waits", [at(1, "c"), at(1, "b"), at(1, "a")], ["c"]],
    [
      "one that has its place keeps it from an older one",
      [at(1, "a"), at(2, "b", { status: granted }), at(3, "c", { status: granted })],
      ["a"],
    ],
    [
      "what REST made comes before an older one",
      [at(1, "a"), at(2, "b", { spec: { owner } }), at(3, "c", { spec: { owner } })],
      ["a"],
    ],
    [
      "one that may not have it keeps no other out",
      [at(1, "a", { spec: ofGroups("billing") }), at(2, "b"), at(3, "c")],
      [],
    ],
    ["one that has its place is never put out", [1, 2, 3].map((one) => at(one, `${one}`, { status: granted })), []],
  ])("%s", (_what, all, expected) => {
    expect(crowdedOut(all)).toEqual(expected);
  });

  test("none waits where the Repository has no limit, and none is counted", () => {
    const one = at(1, "a");
    const fail = () => {
      throw new Error("counted");
    };
    expect(isCrowdedOut(one, repositoryFixture(), fail)).toBe(false);
    expect(isCrowdedOut(at(1, "a", { status: granted }), shop, fail)).toBe(false);
  });
});

test.each([
  [[], [], []],
  [["a"], [], ["a"]],
  [[], ["b"], ["b"]],
  [["a", "b"], ["b", "c"], ["b"]],
  [["a"], ["b"], []],
])("repositories of %j and %j share an environment with %j", (one, other, shared) => {
  const repositories = [one, other].map((groups, index) => repositoryFixture(`r-${index}`, { access: { groups } }));
  expect(sharedGroups(repositories)).toEqual(shared);
});
