import { beforeEach, expect, test } from "@jest/globals";
import { createRepositoryQuotas, type RepositoryQuotas } from "../../../../api/repositories/repository-quotas.ts";
import { type MemoryEnvironments, memoryEnvironments } from "../../../support/doubles/memory/environments.ts";
import { aRepository, memoryRepositories } from "../../../support/doubles/memory/repositories.ts";
import { environmentFixture } from "../../../support/fixtures/environment-fixture.ts";
import { TestClock } from "../../../support/fixtures/test-clock.ts";

const repository = aRepository("shop-api", { maxEnvironments: 2 });
const wanted = (name: string) => {
  const { spec } = environmentFixture();
  return { name, spec: { ...spec, backend: { repository: "shop-api", branch: "main" } } };
};

let environments: MemoryEnvironments;
let quotas: RepositoryQuotas;
beforeEach(() => {
  environments = memoryEnvironments(new TestClock());
  quotas = createRepositoryQuotas({ environments, repositories: memoryRepositories(repository) });
});

test("creations at the same moment have no more room than those one after the other", () => {
  const leave = quotas.enter(wanted("one"));
  quotas.enter(wanted("two"));
  expect(quotas.has(repository)).toBe(false);
  expect(() => quotas.enter(wanted("three"))).toThrow(/as many environments as it may have: 2/);
  leave();
  expect(quotas.has(repository)).toBe(true);
  quotas.enter(wanted("three"));
});

test("a creation whose environment is listed before it is over takes one room", async () => {
  const { name, spec } = wanted("one");
  quotas.enter({ name, spec });
  await environments.create(name, spec);
  quotas.enter(wanted("two"));
  expect(() => quotas.enter(wanted("three"))).toThrow();
});

test("an attempt that comes again finds its own room", () => {
  for (const name of ["one", "two", "two"]) quotas.enter(wanted(name));
});

// Abuse case 106.
test("what others made past the interface without a right to the repository takes no room", async () => {
  const theirs = aRepository("shop-api", { maxEnvironments: 1, access: { groups: ["shop"] } });
  const quotas = createRepositoryQuotas({ environments, repositories: memoryRepositories(theirs) });
  const { spec } = wanted("one");
  await environments.create("stray", { ...spec, access: { groups: ["billing"] } });
  expect(quotas.has(theirs)).toBe(true);
  await environments.create("one", { ...spec, access: { groups: ["shop"] } });
  expect(quotas.has(theirs)).toBe(false);
});
