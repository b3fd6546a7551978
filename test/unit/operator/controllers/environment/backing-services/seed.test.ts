import { describe, expect, test } from "@jest/globals";
import type { ConfigSetSpec } from "../../../../../../crds/config-set.ts";
import type { EnvironmentSpec, EnvironmentStatus } from "../../../../../../crds/environment/ephemeral-environment.ts";
import type { Seed } from "../../../../../../crds/seed.schema.ts";
import { postgresql } from "../../../../../../operator/controllers/environment/backing-services/postgresql.ts";
import {
  environmentFixture,
  fixtureSettings,
  repositoryFixture,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { planInputFixture } from "../../../../../support/fixtures/plan-input.ts";

const seedOf = (name: string): Seed => ({ image: `registry.test/${name}:1`, path: "/seed/data.sql", format: "sql" });

interface Given {
  readonly spec?: Partial<EnvironmentSpec>;
  readonly status?: EnvironmentStatus;
  readonly configSet?: ConfigSetSpec;
  readonly ofRepository?: Seed;
}

function valuesOf({ spec = {}, status = {}, configSet, ofRepository }: Given) {
  const environment = environmentFixture({ spec: { database: { provision: true }, ...spec }, status });
  const backend = repositoryFixture("shop-api", ofRepository ? { database: { seed: ofRepository } } : {});
  const { seed, seeded } = postgresql.values(planInputFixture(environment, { backend }, configSet), fixtureSettings);
  return { seed, seeded };
}

const own = { database: { provision: true, seed: seedOf("own") } };
const configSet = { database: { seed: seedOf("set") } };
const ofRepository = seedOf("repository");
const loaded = (name: string) => ({ seeded: true, seed: expect.objectContaining({ ...seedOf(name), seconds: 600 }) });

describe("the seed of a database", () => {
  test.each<{ name: string; given: Given; expected: object }>([
    { name: "is none unless one is named", given: {}, expected: { seed: undefined, seeded: undefined } },
    { name: "is that of the environment", given: { spec: own, configSet, ofRepository }, expected: loaded("own") },
    { name: "is else that of the config set", given: { configSet, ofRepository }, expected: loaded("set") },
    { name: "is else that of the backend's Repository", given: { ofRepository }, expected: loaded("repository") },
    {
      name: "leaves the values once it is loaded, whatever it is then",
      given: { spec: own, status: { database: { made: true, seed: seedOf("former") } } },
      expected: { seed: undefined, seeded: true },
    },
    {
      name: "is not loaded into a database that was made without one",
      given: { spec: own, status: { database: { made: true } } },
      expected: { seed: undefined, seeded: undefined },
    },
    {
      name: "is loaded into the next database",
      given: { spec: own, status: { database: { made: false } } },
      expected: loaded("own"),
    },
    {
      name: "is not loaded while the environment is suspended",
      given: { spec: { ...own, suspended: true } },
      expected: { seed: undefined, seeded: true },
    },
  ])("$name", ({ given, expected }) => {
    expect(valuesOf(given)).toEqual(expected);
  });

  test("has an id that changes with it and with the database's image, because a Job can't be changed", () => {
    const idOf = (given: Given) => (valuesOf(given).seed as { readonly id: string }).id;
    const id = idOf({ spec: own });
    expect(id).toMatch(/^[0-9a-f]{8}$/);
    expect(idOf({ spec: own, configSet })).toBe(id);
    expect(idOf({ configSet })).not.toBe(id);
    expect(idOf({ spec: own, configSet: { database: { version: "17" } } })).not.toBe(id);
  });
});
