import { beforeEach, describe, expect, test } from "@jest/globals";
import type {
  EnvironmentStatus,
  EphemeralEnvironment,
} from "../../../../../../crds/environment/ephemeral-environment.ts";
import { BACKING_SERVICES } from "../../../../../../operator/controllers/environment/backing-services/index.ts";
import { copyPolicies } from "../../../../../../operator/controllers/environment/database-copies.ts";
import {
  done,
  failed,
  type StepResult,
  waiting,
} from "../../../../../../operator/controllers/environment/step-result.ts";
import { endCopies, withCopySecret } from "../../../../../../operator/controllers/environment/steps/copy-secret.ts";
import { networkPolicyKind, secretKind } from "../../../../../../operator/kit/client/kinds.ts";
import { type MemoryCluster, memoryCluster } from "../../../../../support/doubles/memory/cluster.ts";
import { memoryConfigSets } from "../../../../../support/doubles/memory/config-sets.ts";
import { memoryRepositories } from "../../../../../support/doubles/memory/repositories.ts";
import { stepContext, stepDependencies } from "../../../../../support/doubles/step-dependencies.ts";
import { CREATED, environmentFixture } from "../../../../../support/fixtures/environment/environment-fixture.ts";

const access = { groups: ["team"] };
const ready = {
  type: "DatabaseReady",
  status: "True",
  reason: "Ready",
  message: "",
  lastTransitionTime: CREATED,
} as const;
const POD_SECRET = "environment-secrets-00000001";

let cluster: MemoryCluster;
let source: EphemeralEnvironment;

const sourceOf = (more: object = {}, status: EnvironmentStatus = {}) =>
  environmentFixture({
    metadata: { name: "staging", uid: "uid-of-staging" },
    spec: { access, database: { provision: true }, ...more },
    status: { podSecrets: [POD_SECRET], conditions: [ready], ...status },
  });

const copyOf = (status: EnvironmentStatus = {}) =>
  environmentFixture({ spec: { access, database: { provision: true, from: { environment: "staging" } } }, status });

beforeEach(async () => {
  cluster = memoryCluster();
  source = sourceOf();
  await holdPassword("one");
});

async function holdPassword(password: string): Promise<void> {
  const metadata = { name: POD_SECRET, namespace: "env-staging" };
  const data = { DATABASE_PASSWORD: Buffer.from(password).toString("base64"), SECRET_KEY: "eA==" };
  await cluster.remove(source.metadata, secretKind, metadata);
  await cluster.ensure(source.metadata, secretKind, { apiVersion: "v1", kind: "Secret", metadata, data });
}

interface Given {
  /** The environment as it is stored; the same by default. */
  readonly stored?: EphemeralEnvironment;
  /** The result of the pods' Secret. */
  readonly ofPods?: StepResult;
}

/** A reconcile of either environment, as far as the copy is concerned. */
async function pass(
  environment: EphemeralEnvironment,
  others: readonly EphemeralEnvironment[],
  { stored = environment, ofPods = done("Mirrored") }: Given = {},
): Promise<StepResult> {
  const known = [stored, ...others];
  const dependencies = stepDependencies({
    cluster,
    repositories: memoryRepositories(),
    configSets: memoryConfigSets(),
    backingServices: BACKING_SERVICES,
    environment: (name) => known.find(({ metadata }) => metadata.name === name),
    copiesOf: (name) =>
      known.filter(({ spec, status }) => !status?.database && spec.database?.from?.environment === name),
  });
  const context = { ...dependencies, ...stepContext({ canContinueAfter: async () => true }) };
  for (const policy of copyPolicies(environment, context)) {
    await cluster.ensure(environment.metadata, networkPolicyKind, policy);
  }
  const result = await withCopySecret(environment, ofPods, context);
  await endCopies(environment, context);
  return result;
}

const passwordIn = () => {
  const ref = { name: "database-copy", namespace: "env-shop" };
  const encoded = (
    cluster.observe(environmentFixture().metadata, secretKind, ref)?.data as
      | Readonly<Record<string, string>>
      | undefined
  )?.DATABASE_PASSWORD;
  return encoded && Buffer.from(encoded, "base64").toString();
};
const titles = () => cluster.titles().filter((title) => /database-cop(y|ies)$/.test(title));

describe("the login of a copy", () => {
  test("is the source's password, and nothing else of its Secret", async () => {
    await pass(copyOf(), [source]);
    expect(passwordIn()).toBe("one");
    const ref = { name: "database-copy", namespace: "env-shop" };
    const secret = cluster.observe(environmentFixture().metadata, secretKind, ref);
    expect(Object.keys(secret?.data as object)).toEqual(["DATABASE_PASSWORD"]);
  });

  test("follows a rotation there", async () => {
    await pass(copyOf(), [source]);
    await holdPassword("two");
    await pass(copyOf(), [source]);
    expect(passwordIn()).toBe("two");
  });

  test.each([
    ["the source is suspended", () => sourceOf({ suspended: true })],
    ["the source has no database", () => sourceOf({ database: { provision: false } })],
    ["the source is not for all who see the copy", () => sourceOf({ access: { groups: ["others"] } })],
    ["the source's config set is not known", () => sourceOf({ configSet: { name: "hidden" } })],
  ])("is not there while %s", async (_what, make) => {
    await pass(copyOf(), [make()]);
    expect(passwordIn()).toBeUndefined();
  });

  test("goes with its policy once the copy is made, before which the policy tells of it", async () => {
    await pass(copyOf(), [source]);
    expect(titles()).toEqual(["NetworkPolicy/database-copy", "Secret/database-copy"]);
    await pass(copyOf({ database: { made: true, from: { environment: "staging" } } }), [source]);
    expect(titles()).toEqual([]);
  });

  test("stays until it is stored that the copy is made: another process would go on with it", async () => {
    await pass(copyOf(), [source]);
    const made = { database: { made: true, from: { environment: "staging" } } };
    await pass(copyOf(made), [source], { stored: copyOf() });
    expect(titles()).toEqual(["NetworkPolicy/database-copy", "Secret/database-copy"]);
  });

  test("stays while the environment wakes, which is not stored yet", async () => {
    const asleep = copyOf({ sleep: { state: "asleep", since: CREATED } });
    await pass(copyOf(), [source], { stored: asleep });
    expect(titles()).toEqual(["NetworkPolicy/database-copy", "Secret/database-copy"]);
  });

  test("is there although a request for another secret failed, and not before the first secrets", async () => {
    const requeue = { requeueAfterMs: 1_000 };
    expect((await pass(copyOf(), [source], { ofPods: waiting("Waiting", "", requeue) })).state).toBe("waiting");
    expect(passwordIn()).toBeUndefined();
    const ofPods = failed("SecretNotShared", "it is not shared", requeue);
    expect(await pass(copyOf(), [source], { ofPods })).toEqual(ofPods);
    expect(passwordIn()).toBe("one");
  });

  test("is awaited without a loss of what was found before", async () => {
    await cluster.remove(source.metadata, secretKind, { name: POD_SECRET, namespace: "env-staging" });
    const found = { podSecrets: ["environment-secrets-00000002"] };
    const { findings, state } = await pass(copyOf(), [source], {
      ofPods: done("Mirrored", { findings: found }),
    });
    expect({ findings, state }).toEqual({ findings: found, state: "waiting" });
  });

  test("goes when the source is no longer shared", async () => {
    await pass(copyOf(), [source]);
    await pass(copyOf(), [sourceOf({ access: { groups: ["others"] } })]);
    expect(titles()).toEqual([]);
  });
});

describe("the way into the source", () => {
  test("is open for its copies, and closed after the last", async () => {
    await pass(source, [copyOf()]);
    expect(titles()).toEqual(["NetworkPolicy/database-copies"]);
    await pass(source, [copyOf({ database: { made: true } })]);
    expect(titles()).toEqual([]);
  });

  test("is not open for what may not be copied", async () => {
    await pass(sourceOf({ access: { groups: ["others"] } }), [copyOf()]);
    expect(titles()).toEqual([]);
  });
});
