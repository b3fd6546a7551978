import { describe, expect, test } from "@jest/globals";
import { BRANCH_RULES, branchProblem } from "../../../crds/branches.ts";
import { EnvironmentSpec } from "../../../crds/ephemeral-environment.schema.ts";
import { RepositorySpec } from "../../../crds/repository.schema.ts";

describe("a branch", () => {
  test.each([
    ["main", undefined],
    ["feature/shop-42", undefined],
    ["release/1.2.x", undefined],
    ["locked", undefined],
    ["a.lock.b", undefined],
    ["a..b", "must not contain '..'"],
    ["a//b", "must not contain '//'"],
    ["a/.b", "must not contain '/.'"],
    ["a.lock/b", "must not contain '.lock/'"],
    ["a.lock", "must not end with '.lock'"],
    ["a.", "must not end with '.'"],
    ["a/", "must not end with '/'"],
  ])("%j: %s", (branch, problem) => {
    expect(branchProblem(branch)).toBe(problem);
  });

  test.each([
    ["an environment's backend", EnvironmentSpec.properties.backend],
    ["an environment's frontend", EnvironmentSpec.properties.frontend],
    ["a Repository", RepositorySpec],
  ])("is held to every rule in %s too", (_where, schema) => {
    const cel = JSON.stringify(schema);
    for (const rule of BRANCH_RULES) expect(cel).toContain(rule.message);
  });
});
