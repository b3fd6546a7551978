import { beforeEach, expect, test } from "@jest/globals";
import { createRepositoryRooms, type RepositoryRooms } from "../../../../api/intake/repository-room.ts";
import { environmentFixture } from "../../../support/environment-fixture.ts";
import { type MemoryEnvironments, memoryEnvironments } from "../../../support/memory-environments.ts";
import { aRepository, memoryRepositories } from "../../../support/memory-repositories.ts";
import { TestClock } from "../../../support/test-clock.ts";

const repository = aRepository("shop-api", { maxEnvironments: 2 });
const wanted = (name: string) => {
  const { spec } = environmentFixture();
  return { name, spec: { ...spec, backend: { repository: "shop-api", branch: "main" } } };
};

let environments: MemoryEnvironments;
let rooms: RepositoryRooms;
beforeEach(() => {
  environments = memoryEnvironments(new TestClock());
  rooms = createRepositoryRooms({ environments, repositories: memoryRepositories(repository) });
});

test("creations at the same moment have no more room than those one after the other", () => {
  const leave = rooms.enter(wanted("one"));
  rooms.enter(wanted("two"));
  expect(rooms.has(repository)).toBe(false);
  expect(() => rooms.enter(wanted("three"))).toThrow(/as many environments as it may have: 2/);
  leave();
  expect(rooms.has(repository)).toBe(true);
  rooms.enter(wanted("three"));
});

test("a creation whose environment is listed before it is over takes one room", async () => {
  const { name, spec } = wanted("one");
  rooms.enter({ name, spec });
  await environments.create(name, spec);
  rooms.enter(wanted("two"));
  expect(() => rooms.enter(wanted("three"))).toThrow();
});

test("an attempt that comes again finds its own room", () => {
  for (const name of ["one", "two", "two"]) rooms.enter(wanted(name));
});

// Abuse case 106.
test("what others made past the interface without a right to the repository takes no room", async () => {
  const theirs = aRepository("shop-api", { maxEnvironments: 1, access: { groups: ["shop"] } });
  const rooms = createRepositoryRooms({ environments, repositories: memoryRepositories(theirs) });
  const { spec } = wanted("one");
  await environments.create("stray", { ...spec, access: { groups: ["billing"] } });
  expect(rooms.has(theirs)).toBe(true);
  await environments.create("one", { ...spec, access: { groups: ["shop"] } });
  expect(rooms.has(theirs)).toBe(false);
});
