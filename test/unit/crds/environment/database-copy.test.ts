import { describe, expect, test } from "@jest/globals";
import { mayCopyDatabase, pendingCopySource } from "../../../../crds/environment/database-copy.ts";
import type { EnvironmentSpec, EnvironmentStatus } from "../../../../crds/environment/ephemeral-environment.ts";
import { environmentFixture } from "../../../support/fixtures/environment/environment-fixture.ts";

describe("who may copy a database", () => {
  const readers = (groups: readonly string[], subject?: string): Pick<EnvironmentSpec, "owner" | "access"> => ({
    access: { groups: [...groups] },
    ...(subject === undefined ? {} : { owner: { subject, email: "", name: "" } }),
  });
  test.each([
    ["all groups are the source's", readers(["a"]), readers(["a", "b"]), true],
    ["the groups are equal, and the owners are not", readers(["a"], "i#one"), readers(["a"], "i#two"), true],
    ["a group is not the source's", readers(["a", "c"], "i#one"), readers(["a", "b"], "i#one"), false],
    ["there are no groups, and the owner is the same", readers([], "i#one"), readers(["a"], "i#one"), true],
    ["there are no groups, and the owners differ", readers([], "i#one"), readers([], "i#two"), false],
    ["there are neither groups nor owners", readers([]), readers([]), false],
    ["nothing is said", {}, {}, false],
  ])("%s", (_what, copy, source, may) => {
    expect(mayCopyDatabase(copy, source)).toBe(may);
  });
});

describe("the source of a copy that is still to be made", () => {
  const from = { environment: "staging" };
  const pending = (spec: Partial<EnvironmentSpec>, status: EnvironmentStatus = {}, metadata: object = {}) =>
    pendingCopySource(environmentFixture({ spec, status, metadata }));
  test.each<[string, string | undefined, string | undefined]>([
    ["before it is made", pending({ database: { provision: true, from } }), "staging"],
    ["made", pending({ database: { provision: true, from } }, { database: { made: true, from } }), undefined],
    [
      "to be made anew",
      pending({ database: { provision: true, from, generation: 2 } }, { database: { made: true, from } }),
      "staging",
    ],
    ["without a copy", pending({ database: { provision: true } }), undefined],
    ["without a database", pending({ database: { provision: false, from } }), undefined],
    ["suspended", pending({ suspended: true, database: { provision: true, from } }), undefined],
    [
      "asleep",
      pending({ database: { provision: true, from } }, { sleep: { state: "asleep", since: "2026-11-27T00:00:00Z" } }),
      undefined,
    ],
    ["being deleted", pending({ database: { provision: true, from } }, {}, { deletionTimestamp: "x" }), undefined],
  ])("%s", (_what, source, expected) => {
    expect(source).toBe(expected);
  });
});
