import { beforeEach, describe, expect, test } from "@jest/globals";
import type { EnvironmentStatus } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { RECONCILE_ANNOTATION } from "../../../../../../crds/group.ts";
import { BACKING_SERVICES } from "../../../../../../operator/controllers/environment/backing-services/index.ts";
import { failed, type StepResult } from "../../../../../../operator/controllers/environment/step-result.ts";
import { backingServices } from "../../../../../../operator/controllers/environment/steps/backing-service.ts";
import { secretKind } from "../../../../../../operator/kit/client/kinds.ts";
import type { ObservedApplication } from "../../../../../../operator/ports/deployer.ts";
import { FileUnreadable, RepositoryHostUnavailable } from "../../../../../../operator/ports/repository-host.ts";
import { type MemoryCluster, memoryCluster } from "../../../../../support/doubles/memory/cluster.ts";
import { memoryConfigSets } from "../../../../../support/doubles/memory/config-sets.ts";
import { memoryRepositories } from "../../../../../support/doubles/memory/repositories.ts";
import { stepContext, stepDependencies } from "../../../../../support/doubles/step-dependencies.ts";
import {
  CREATED,
  commitA,
  environmentFixture,
  repositoryFixture,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";

const commitB = "b".repeat(40);
const seed = { git: "backend", path: "/seed/data.sql", format: "sql" } as const;
let cluster: MemoryCluster;
let reads: string[];
let answer: () => Buffer;
beforeEach(() => {
  cluster = memoryCluster();
  reads = [];
  answer = () => Buffer.from("SELECT 1;");
});

type Database = EnvironmentStatus["database"];

interface Given {
  readonly commit?: string;
  readonly database?: Database;
  /** The database in the status that is stored; the same by default. */
  readonly stored?: Database;
  readonly generation?: number;
  readonly observed?: ObservedApplication["state"];
  /** The condition of the reconcile before. */
  readonly former?: StepResult;
  readonly isRequested?: boolean;
  readonly suspended?: boolean;
}

function environmentOf(given: Given, database: Database) {
  const { commit = commitA, generation = 1, former, isRequested, suspended = false } = given;
  const message = former !== undefined && "message" in former ? former.message : "";
  const condition = { type: "DatabaseReady", status: "False", message, lastTransitionTime: CREATED } as const;
  return environmentFixture({
    ...(isRequested ? { metadata: { annotations: { [RECONCILE_ANNOTATION]: "now" } } } : {}),
    spec: { database: { provision: true, seed, generation }, suspended },
    status: {
      sources: { backend: { applied: { branch: "main", commit, image: "shop:1" } } },
      ...(former && { conditions: [{ ...condition, reason: former.reason }] }),
      ...(database && { database }),
    },
  });
}

/** One reconcile of the database; answers its result, and the database in the status afterwards. */
async function pass(given: Given) {
  const { database, observed } = given;
  const stored = "stored" in given ? given.stored : database;
  const dependencies = stepDependencies({
    cluster,
    backingServices: BACKING_SERVICES,
    repositories: memoryRepositories(repositoryFixture("shop-api")),
    configSets: memoryConfigSets(),
    environment: () => environmentOf(given, stored),
    deployer: {
      observe: () => observed && { state: observed, revision: "", message: "", kinds: ["Job"] },
      deployedSources: () => ({}),
    },
    repositoryFiles: {
      async file(_cloneUrl, { commit: at, path }) {
        reads.push(`${path} at ${at}`);
        return answer();
      },
    },
  });
  const [step] = backingServices(dependencies);
  const context = stepContext({ canContinueAfter: async () => true });
  const result = (await step?.run(environmentOf(given, database), context)) as StepResult;
  const found = result.findings?.database ?? database;
  const cleaned = await step?.cleanUp?.(environmentOf(given, found), context);
  return { result, database: cleaned?.database ?? found };
}

/** The reconciles until the file is in the namespace. */
async function untilStored(given: Given = {}) {
  const { database } = await pass(given);
  return (await pass({ ...given, database })).database;
}

const secrets = () => cluster.titles().filter((title) => title.includes("database-seed"));
const dataOf = (load = "") => {
  const ref = { name: `database-seed-${load}`, namespace: "env-shop" };
  return cluster.observe(environmentFixture().metadata, secretKind, ref)?.data;
};
const encoded = (text: string) => ({ seed: Buffer.from(text).toString("base64") });

describe("the file of a seed in git", () => {
  test("is read once, after the status names its load, and kept for the Job in a Secret of that load", async () => {
    const named = await pass({});
    expect(named.result).toMatchObject({ reason: "ReadingSeed", requeueAfterMs: 1, persistFirst: true });
    expect(named.database).toEqual({ made: false, file: { load: expect.any(String), commit: commitA } });
    expect([reads, secrets()]).toEqual([[], []]);

    const read = await pass({ database: named.database });
    expect(read.result).toMatchObject({ reason: "ReadingSeed", requeueAfterMs: 1 });
    expect(read.database?.file).toEqual({ ...named.database?.file, stored: true });
    expect(dataOf(read.database?.file?.load)).toEqual(encoded("SELECT 1;"));

    expect((await pass({ database: read.database })).result).toMatchObject({ reason: "Starting" });
    expect(reads).toEqual([`seed/data.sql at ${commitA}`]);
  });

  test("is not read again after a crash between Secret and status", async () => {
    const { database } = await pass({});
    await pass({ database });
    expect((await pass({ database })).database?.file?.stored).toBe(true);
    expect(reads).toHaveLength(1);
  });

  test("is read again when the Secret has gone", async () => {
    const database = await untilStored();
    const ref = { name: `database-seed-${database?.file?.load}`, namespace: "env-shop" };
    await cluster.remove(environmentFixture().metadata, secretKind, ref);
    await pass({ database });
    expect(reads).toHaveLength(2);
    expect(secrets()).toHaveLength(1);
  });

  test("is that of another commit after a failed load, and the former one goes", async () => {
    const database = await untilStored();
    answer = () => Buffer.from("SELECT 2;");
    const former = failed("SeedFailed", "it has failed");
    const next = await untilStored({ commit: commitB, database, former });
    expect(next?.file).toEqual({ load: expect.any(String), commit: commitB, stored: true });
    expect(next?.file?.load).not.toBe(database?.file?.load);
    expect(secrets()).toHaveLength(1);
    expect(dataOf(next?.file?.load)).toEqual(encoded("SELECT 2;"));
  });

  test("is not made while only a draft of the status names it", async () => {
    const { database } = await pass({});
    const { result } = await pass({ database, stored: undefined });
    expect(result).toMatchObject({ reason: "ReadingSeed", persistFirst: true, findings: { database } });
    expect([reads, secrets()]).toEqual([[], []]);
  });

  test("is kept while the environment is suspended: its load may be over already", async () => {
    const database = await untilStored();
    const suspended = await pass({ database, suspended: true });
    expect(suspended.database).toEqual(database);
    expect(secrets()).toHaveLength(1);
    const resumed = await pass({ database, commit: commitB });
    expect(resumed.database).toEqual(database);
    expect(reads).toHaveLength(1);
  });

  test("makes way for another commit where it is lost, and its own can't be read any more", async () => {
    const database = await untilStored();
    const ref = { name: `database-seed-${database?.file?.load}`, namespace: "env-shop" };
    await cluster.remove(environmentFixture().metadata, secretKind, ref);
    answer = () => {
      throw new FileUnreadable("absent", "has none");
    };
    const lost = await pass({ database, commit: commitB });
    expect(lost.result).toMatchObject({ reason: "SeedNotFound" });
    expect((await pass({ database: lost.database, commit: commitB })).database?.file).toMatchObject({
      commit: commitB,
    });
  });

  test("is removed once it is stored that it is loaded, and not before", async () => {
    const database = await untilStored();
    const made = await pass({ database, observed: "healthy" });
    expect(made.database).toEqual({ ...database, made: true, seed: { ...seed, commit: commitA } });
    expect(secrets()).toHaveLength(1);
    const over = await pass({ database: made.database, observed: "healthy" });
    expect(over.database).toEqual({ made: true, seed: { ...seed, commit: commitA } });
    expect(secrets()).toEqual([]);
    expect(reads).toHaveLength(1);
  });

  describe.each([
    ["absent", "SeedNotFound", /Repository 'shop-api' has none \(commit [0-9a-f]{8}\): give the environment a commit/],
    ["unsuitable", "SeedUnsuitable", /Repository 'shop-api' has none \(commit [0-9a-f]{8}\): put it into an image/],
  ] as const)("that is %s", (reason, expected, words) => {
    beforeEach(() => {
      answer = () => {
        throw new FileUnreadable(reason, "has none");
      };
    });

    test("fails the database, and says what to do; it is read again on request alone", async () => {
      const { database } = await pass({});
      const { result } = await pass({ database });
      expect(result).toMatchObject({ state: "failed", reason: expected, message: expect.stringMatching(words) });
      const { findings: _, ...refused } = result;
      expect((await pass({ database, former: result })).result).toEqual(refused);
      expect(reads).toHaveLength(1);
      await pass({ database, former: result, isRequested: true });
      expect(reads).toHaveLength(2);
      expect(secrets()).toEqual([]);
    });

    test("leaves the former database serving", async () => {
      const anew = { generation: 2 };
      const { database } = await pass({ ...anew, database: { made: true } });
      expect(database).toMatchObject({ made: true });
      const { result } = await pass({ ...anew, database });
      expect(result).toMatchObject({ message: expect.stringContaining("the former database serves") });
    });
  });

  test("is waited for while its host is away", async () => {
    const { database } = await pass({});
    answer = () => {
      throw new RepositoryHostUnavailable("away");
    };
    await expect(pass({ database })).rejects.toThrow(RepositoryHostUnavailable);
  });
});
