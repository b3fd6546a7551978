import { beforeEach, expect, test } from "@jest/globals";
import { createRepositoryQuotas, type RepositoryQuotas } from "../../../../api/repositories/repository-quotas.ts";
import { type MemoryEnvironments, memoryEnvironments } from "../../../support/doubles/memory/environments.ts";
import { aRepository, memoryRepositories } from "../../../support/doubles/memory/repositories.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";
import { environmentFixture } from "../../../support/fixtures/environment/environment-fixture.ts";

const repository = aRepository("shop-api", { maxEnvironments: 2 });
const requested = (name: string) => {
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
  const leave = quotas.reserve(requested("one"));
  quotas.reserve(requested("two"));
  expect(quotas.hasRoom(repository)).toBe(false);
  expect(() => quotas.reserve(requested("three"))).toThrow(/as many environments as it may have: 2/);
  leave();
  expect(quotas.hasRoom(repository)).toBe(true);
  quotas.reserve(requested("three"));
});

test("a creation whose environment is listed before it is over takes one room", async () => {
  const { name, spec } = requested("one");
  quotas.reserve({ name, spec });
  await environments.create(name, spec);
  quotas.reserve(requested("two"));
  expect(() => quotas.reserve(requested("three"))).toThrow();
});

test("an attempt that comes again finds its own room", () => {
  for (const name of ["one", "two", "two"]) quotas.reserve(requested(name));
});

// Abuse case 106.
test("environments made past the interface without a right to the repository take no room", async () => {
  const theirs = aRepository("shop-api", { maxEnvironments: 1, access: { groups: ["shop"] } });
  const quotas = createRepositoryQuotas({ environments, repositories: memoryRepositories(theirs) });
  const { spec } = requested("one");
  await environments.create("stray", { ...spec, access: { groups: ["billing"] } });
  expect(quotas.hasRoom(theirs)).toBe(true);
  await environments.create("one", { ...spec, access: { groups: ["shop"] } });
  expect(quotas.hasRoom(theirs)).toBe(false);
});
