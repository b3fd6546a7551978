import { describe, expect, test } from "@jest/globals";
import type { ConfigSetSpec } from "../../../../../../crds/config-set.ts";
import type { EnvironmentSpec, EnvironmentStatus } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { present } from "../../../../../../crds/present.ts";
import type { Seed } from "../../../../../../crds/seed.schema.ts";
import type { ObservedCopySource } from "../../../../../../operator/controllers/environment/backing-services/backing-service.ts";
import { postgresql } from "../../../../../../operator/controllers/environment/backing-services/postgresql.ts";
import {
  CREATED,
  commitA,
  environmentFixture,
  fixtureSettings,
  repositoryFixture,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { planInputFixture } from "../../../../../support/fixtures/plan-input.ts";

const commitB = "b".repeat(40);
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

describe("a seed in the backend's repository", () => {
  const seed = { git: "backend", path: "/seed/data.sql", format: "sql" } as const;
  const spec = { database: { provision: true, seed } };
  const at = (commit: string, database?: EnvironmentStatus["database"], reason = "Seeding"): EnvironmentStatus => ({
    sources: { backend: { applied: { branch: "main", commit, image: "shop:1" } } },
    conditions: [{ type: "DatabaseReady", status: "Unknown", reason, message: "", lastTransitionTime: CREATED }],
    ...present({ database }),
  });
  const pendingAt = (...status: Parameters<typeof at>) =>
    postgresql.firstData?.pending(inputOf({ spec, status: at(...status) }), fixtureSettings);
  const load = pendingAt(commitA)?.file?.load ?? "";
  const begun = { made: false, file: { load, commit: commitA, stored: true } };

  test("is the file of the environment's commit, and waits until that is in the namespace", () => {
    expect(load).toMatch(/^[0-9a-f]{8}$/);
    expect(pendingAt(commitA)).toMatchObject({
      job: `database-seed-${load}`,
      file: { commit: commitA, path: "seed/data.sql", secret: `database-seed-${load}` },
      obstacle: { state: "waiting", reason: "ReadingSeed" },
    });
    const named = { made: false, file: { load, commit: commitA } };
    expect(pendingAt(commitA, named)?.obstacle).toMatchObject({ reason: "ReadingSeed" });
    expect(pendingAt(commitA, begun)?.obstacle).toBeUndefined();
  });

  test("stays that of the commit with which its load has begun, or two would fill one folder", () => {
    expect(pendingAt(commitB, begun)).toMatchObject({ file: { load, commit: commitA } });
    const input = inputOf({ spec, status: at(commitB, begun) });
    const made = postgresql.firstData?.made(input, fixtureSettings);
    expect(made).toMatchObject({ database: { made: true, seed: { ...seed, commit: commitA } } });
  });

  test.each([
    ["its load has failed", at(commitB, begun, "SeedFailed")],
    ["its file is not read yet", at(commitB, { made: false, file: { load, commit: commitA } })],
  ])("is that of a later commit where %s", (_when, status) => {
    const pending = postgresql.firstData?.pending(inputOf({ spec, status }), fixtureSettings);
    expect(pending?.file).toMatchObject({ commit: commitB });
    expect(pending?.file?.load).not.toBe(load);
    expect(pending?.obstacle).toMatchObject({ reason: "ReadingSeed" });
  });

  test("is given to the chart by the Secret that has it", () => {
    const { seed: values } = valuesOf({ spec, status: at(commitA) });
    const { path, format } = seed;
    expect(values).toEqual({ id: load, secret: `database-seed-${load}`, path, format, seconds: 600 });
  });

  test("is kept with its commit once it is loaded, and the file until that is removed", () => {
    const made = postgresql.firstData?.made(inputOf({ spec, status: at(commitA, begun) }), fixtureSettings);
    expect(made).toEqual({ database: { made: true, seed: { ...seed, commit: commitA }, file: begun.file } });
    expect(pendingAt(commitB, { made: true, seed })).toBeUndefined();
  });

  test("is not begun while the commit is unknown", () => {
    const pending = postgresql.firstData?.pending(inputOf({ spec }), fixtureSettings);
    expect(pending).toMatchObject({ obstacle: { reason: "ReadingSeed" } });
    expect(pending?.file).toBeUndefined();
  });

  test("leaves the former database where that is to be made anew", () => {
    const anew = { database: { provision: true, generation: 2, seed } };
    const status = at(commitA, { made: true });
    const pending = postgresql.firstData?.pending(inputOf({ spec: anew, status }), fixtureSettings);
    expect(pending?.obstacle?.message).toContain("the former database serves, and stays with database.generation 1");
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
  const madeOf = (given: Given) => postgresql.firstData?.made(inputOf(given), fixtureSettings);
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
      reason: "Starting",
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

describe("a copy of another environment's database", () => {
  const ofCopy = { provision: true, from: { environment: "staging" } };
  const access = { groups: ["team"] };
  const ready = {
    type: "DatabaseReady",
    status: "True",
    reason: "Ready",
    message: "",
    lastTransitionTime: "",
  } as const;
  const source = (spec: Partial<EnvironmentSpec> = {}, status: EnvironmentStatus = { conditions: [ready] }) =>
    environmentFixture({
      metadata: { name: "staging" },
      spec: { access, database: { provision: true }, ...spec },
      status,
    });
  const observed = (environment = source(), masks: readonly string[] = []): ObservedCopySource => ({
    environment,
    masks,
    isConfigured: true,
  });
  interface Copy extends Given {
    readonly from?: ObservedCopySource | undefined;
  }
  const copyInput = ({ from = observed(), ...given }: Copy = {}) => {
    const input = inputOf({ ...given, spec: { access, database: ofCopy, ...given.spec } });
    return planInputFixture(input.environment, input.repositories, input.configSet, from);
  };
  const seedIn = (given?: Copy) => postgresql.values(copyInput(given), fixtureSettings).seed;
  const obstacleTo = (given?: Copy) => postgresql.firstData?.pending(copyInput(given), fixtureSettings)?.obstacle;

  test("is made by a Job that reaches the source's database, before which there is nothing", () => {
    const values = postgresql.values(copyInput(), fixtureSettings);
    expect(values).toMatchObject({ seeded: true });
    expect(seedIn()).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}$/),
      format: "copy",
      host: "database.env-staging.svc",
      secret: "database-copy",
      mask: [],
      seconds: 600,
    });
    const { reason, message } = postgresql.firstData?.pending(copyInput(), fixtureSettings) ?? {};
    expect(reason).toBe("Copying");
    expect(message).toBe("copying the database of environment 'staging'; everything else waits until that is done");
    expect(obstacleTo()).toBeUndefined();
  });

  test("is masked by the source's config set, too, so that another one for the copy shows nothing", () => {
    const own = { database: { mask: ["UPDATE b", "UPDATE a"] } };
    const from = observed(source(), ["UPDATE a"]);
    expect(seedIn({ from, configSet: own })).toMatchObject({ mask: ["UPDATE a", "UPDATE b"] });
    expect(seedIn({ from })).toMatchObject({ mask: ["UPDATE a"] });
  });

  test("wins over the seeds of its config set and its Repository", () => {
    expect(seedIn({ configSet, ofRepository })).toMatchObject({ format: "copy" });
  });

  test("has another Job for another mask and another source", () => {
    const idOf = (given?: Copy) => (seedIn(given) as { readonly id: string }).id;
    const other = { spec: { database: { provision: true, from: { environment: "other" } } } };
    const masked = { configSet: { database: { mask: ["UPDATE a"] } } };
    expect(new Set([idOf(), idOf(other), idOf(masked)]).size).toBe(3);
  });

  const [failed, waiting] = [
    (reason: string, words: string) => ({ state: "failed", reason, message: expect.stringContaining(words) }),
    (words: string) => ({ state: "waiting", reason: "WaitingForCopySource", message: expect.stringContaining(words) }),
  ];
  const deleted = environmentFixture({ metadata: { name: "staging", deletionTimestamp: "x" } });
  const sleeping: EnvironmentStatus = {
    conditions: [ready],
    sleep: { state: "asleep", since: "2026-11-27T00:00:00Z" },
  };

  test.each<[what: string, from: ObservedCopySource | undefined, expected: object]>([
    ["is not there", undefined, failed("CopySourceNotFound", "there is no environment 'staging'")],
    ["is being deleted", observed(deleted), failed("CopySourceNotFound", "is being deleted")],
    [
      "may be seen by others only",
      observed(source({ access: { groups: ["others"] } })),
      failed("CopyNotAllowed", "may not be copied here"),
    ],
    [
      "has no database",
      observed(source({ database: { provision: false } })),
      failed("CopySourceNotFound", "has no database"),
    ],
    ["is suspended", observed(source({ suspended: true })), waiting("is resumed")],
    ["sleeps", observed(source({}, sleeping)), waiting("is awake")],
    ["has no database yet", observed(source({}, {})), waiting("once it is ready there")],
    ["has a config set that is not known", { ...observed(), isConfigured: false }, waiting("config set")],
  ])("waits or fails while its source %s", (_what, from, expected) => {
    const input = inputOf({ spec: { access, database: ofCopy } });
    const withSource = planInputFixture(input.environment, input.repositories, undefined, from);
    expect(postgresql.firstData?.pending(withSource, fixtureSettings)?.obstacle).toMatchObject(expected);
  });

  test("says how to keep the former database while its source is not there, and does not go back by itself", () => {
    const given = {
      spec: { database: { ...ofCopy, generation: 2 } },
      status: { database: { made: true, from: { environment: "staging" } } },
      from: observed(source({ suspended: true })),
    };
    expect(obstacleTo(given)?.message).toContain("stays with database.generation 1");
    // A copy that has just been made would be removed with the former values.
    const values = { claim: "database-2", seed: { format: "copy" } };
    expect(postgresql.values(copyInput(given), fixtureSettings)).toMatchObject(values);
  });

  test("is noted, and asks nothing of its source afterwards", () => {
    const noted = { made: true, from: { environment: "staging" } };
    expect(postgresql.firstData?.made(copyInput(), fixtureSettings)).toEqual({ database: noted });
    const later = { status: { database: noted }, from: observed(source({ suspended: true })) };
    expect(postgresql.firstData?.pending(copyInput(later), fixtureSettings)).toBeUndefined();
    expect(seedIn(later)).toBeUndefined();
    expect(postgresql.firstData?.made(copyInput(later), fixtureSettings)).toEqual({});
  });

  test("is nothing that a chart with values of its own can make", () => {
    const chart = { ...fixtureSettings.defaultChart, values: "a: 1" };
    const input = planInputFixture(
      environmentFixture({ spec: { access, database: ofCopy } }),
      { backend: repositoryFixture("shop-api", { chart }) },
      undefined,
      observed(),
    );
    expect(postgresql.firstData?.problem(input, fixtureSettings)).toMatchObject({
      reason: "SeedUnsupported",
      message: expect.stringContaining("database.from"),
    });
  });
});
