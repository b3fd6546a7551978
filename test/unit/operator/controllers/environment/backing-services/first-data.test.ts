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

function inputOf({ spec = {}, status = {}, configSet, ofRepository }: Given) {
  const environment = environmentFixture({ spec: { database: { provision: true }, ...spec }, status });
  const backend = repositoryFixture("shop-api", ofRepository ? { database: { seed: ofRepository } } : {});
  return planInputFixture(environment, { backend }, configSet);
}

function valuesOf(given: Given) {
  const { seed, seeded } = postgresql.values(inputOf(given), fixtureSettings);
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

describe("a database made anew", () => {
  const anew = (more: Partial<NonNullable<EnvironmentSpec["database"]>> = {}) => ({
    database: { provision: true, generation: 2, ...more },
  });
  const dataOf = (given: Given) => {
    const { claim, seeded, seed } = postgresql.values(inputOf(given), fixtureSettings);
    return { claim, seeded, seed };
  };
  const pendingOf = (given: Given) => postgresql.firstData?.pending(inputOf(given), fixtureSettings);
  const madeOf = (given: Given) => postgresql.firstData?.made(inputOf(given));
  const former = { made: true, seed: seedOf("former") };

  test.each<{ name: string; given: Given; expected: object }>([
    {
      name: "has a claim of its own, and its seed",
      given: { spec: anew({ seed: seedOf("own") }), status: { database: former } },
      expected: { claim: "database-2", ...loaded("own") },
    },
    {
      name: "is empty without a seed, whatever the former one had",
      given: { spec: anew(), status: { database: former } },
      expected: { claim: "database-2" },
    },
    {
      name: "keeps its claim once it is made",
      given: { spec: anew(), status: { database: { ...former, generation: 2 } } },
      expected: { claim: "database-2", seeded: true },
    },
    {
      name: "waits while the environment is suspended, which keeps the former one",
      given: { spec: { ...anew({ seed: seedOf("own") }), suspended: true }, status: { database: former } },
      expected: { seeded: true },
    },
    {
      name: "is not made where the former number is set again",
      given: { spec: anew({ generation: 1, seed: seedOf("own") }), status: { database: former } },
      expected: { seeded: true },
    },
  ])("$name", ({ given, expected }) => {
    const { claim, seeded, seed }: Partial<Record<string, unknown>> = { ...expected };
    expect(dataOf(given)).toEqual({ claim, seeded, seed });
  });

  test("is pending until the status says that it is made, with a Job only for a seed", () => {
    expect(pendingOf({ spec: anew(), status: { database: former } })).toEqual({
      message: expect.stringContaining("anew"),
    });
    const { job, message } = pendingOf({ spec: anew({ seed: seedOf("own") }), status: { database: former } }) ?? {};
    expect(job).toMatch(/^database-seed-[0-9a-f]{8}$/);
    expect(message).toContain("the former database serves until it is loaded");
    expect(pendingOf({ spec: anew(), status: { database: { made: true, generation: 2 } } })).toBeUndefined();
    expect(pendingOf({ spec: anew() })).toBeUndefined();
  });

  test("has another Job than the database before, for the same seed", () => {
    const jobOf = (generation: number) => pendingOf({ spec: anew({ generation, seed: seedOf("own") }) })?.job;
    expect(new Set([1, 2, 3].map(jobOf)).size).toBe(3);
  });

  test("is noted with its number and its seed, once", () => {
    const seed = seedOf("own");
    const noted = { made: true, seed, generation: 2 };
    expect(madeOf({ spec: anew({ seed }), status: { database: former } })).toEqual({ database: noted });
    expect(madeOf({ spec: anew(), status: { database: former } })).toEqual({ database: { made: true, generation: 2 } });
    expect(madeOf({ spec: anew({ seed: seedOf("later") }), status: { database: noted } })).toEqual({});
  });
});
