import { expect, test } from "@jest/globals";
import { sharedGroups } from "../../../../../api/environments/creation/intake.ts";
import { aRepository } from "../../../../support/doubles/memory/repositories.ts";

test.each([
  [[], [], []],
  [["a"], [], ["a"]],
  [[], ["b"], ["b"]],
  [["a", "b"], ["b", "c"], ["b"]],
  [["a"], ["b"], []],
])("repositories of %j and %j share an environment with %j", (one, other, shared) => {
  const repositories = [one, other].map((groups, index) => aRepository(`r-${index}`, { access: { groups } }));
  expect(sharedGroups(repositories)).toEqual(shared);
});
