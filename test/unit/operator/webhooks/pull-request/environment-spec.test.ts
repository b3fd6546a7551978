import { describe, expect, test } from "@jest/globals";
import type { ConfigSetSpec } from "../../../../../crds/config-set.ts";
import { HostUnavailable } from "../../../../../crds/errors.ts";
import type { Repository } from "../../../../../crds/repository/repository.ts";
import type { PullRequestRules } from "../../../../../crds/repository/webhook-rules.schema.ts";
import type { PullRequestState } from "../../../../../crds/webhooks/webhook-event.schema.ts";
import {
  CREATED,
  configSetFixture,
  fixtureSettings,
  repositoryFixture,
} from "../../../../support/fixtures/environment/environment-fixture.ts";
import { commitOf, pullRequestState, shopApi, WebhookWorld } from "../../../../support/worlds/webhook-world.ts";

const secretRef = { name: "stripe", key: "latest" };

interface Scene {
  readonly api?: Partial<Repository["spec"]>;
  readonly rules?: PullRequestRules;
  readonly others?: readonly Repository[];
  readonly set?: ConfigSetSpec;
  readonly maximumHours?: number;
}

function worldOf({ api, rules, others = [], set = {}, maximumHours = 168 }: Scene): WebhookWorld {
  const repository = shopApi({ pullRequest: { enabled: true, ...rules }, ...api });
  const settings = { ttl: { ...fixtureSettings.ttl, maximumHours } };
  return new WebhookWorld({
    repositories: [repository, ...others],
    configSets: [configSetFixture("web", set)],
    settings,
  });
}

async function specOf(scene: Scene, state: Partial<PullRequestState> = {}) {
  const world = worldOf(scene);
  const { decision, trace } = await world.arrive(pullRequestState(state), "delivery-1");
  const broken = trace.filter(({ passed }) => !passed).map(({ rule }) => rule);
  return decision.do === "create" ? decision.spec : broken;
}

test("the environment of a pull request", async () => {
  expect(await specOf({}, { login: "dev" })).toEqual({
    ttlHours: 24,
    backend: { repository: "shop-api", branch: "feature", commit: commitOf("a") },
    access: { groups: [] },
    trigger: {
      kind: "pull_request",
      provider: "",
      repository: "shop-api",
      number: 7,
      login: "dev",
      delivery: "delivery-1",
    },
  });
});

test.each<[string, Scene, number]>([
  ["the rule's", { rules: { ttlHours: 48, configSet: "web" }, set: { ttlDefaultHours: 12 } }, 48],
  ["the named config set's", { rules: { configSet: "web" }, set: { ttlDefaultHours: 12 } }, 12],
  ["24 hours", { rules: { configSet: "web" } }, 24],
  ["the maximum of the settings at most", { rules: { ttlHours: 48 }, maximumHours: 36 }, 36],
])("its TTL is %s", async (_what, scene, ttlHours) => {
  expect(await specOf(scene)).toMatchObject({ ttlHours });
});

describe("its config set", () => {
  test("is the one that the rules name, and decides about the database", async () => {
    const scene = { rules: { configSet: "web" }, set: { database: { enabled: true } } };
    expect(await specOf(scene)).toMatchObject({ configSet: { name: "web" }, database: { provision: true } });
  });

  test.each<[string, Scene]>([
    ["does not exist", { rules: { configSet: "other" } }],
    ["is for production", { rules: { configSet: "web" }, set: { production: true } }],
    ["is for other groups", { rules: { configSet: "web" }, set: { access: { groups: ["billing"] } } }],
  ])("that %s: there is no environment", async (_what, scene) => {
    expect(await specOf(scene)).toEqual(["config_set"]);
  });
});

describe("its companion", () => {
  const web = repositoryFixture("shop-web", { type: "frontend", defaultBranch: "trunk" });
  const scene: Scene = { api: { companionRepository: "shop-web" }, others: [web] };

  test.each([
    ["its branch of the same name", "feature"],
    ["its default branch", "trunk"],
  ])("has %s", async (_what, branch) => {
    const world = worldOf(scene);
    world.branchHeads.push("shop-web", branch, commitOf("f"));
    const { decision } = await world.arrive(pullRequestState());
    expect(decision).toMatchObject({ do: "create", spec: { frontend: { repository: "shop-web", branch } } });
  });

  test("is not chosen by the author of a fork", async () => {
    const world = worldOf({ ...scene, rules: { forks: "approve" } });
    world.branchHeads.push("shop-web", "feature", commitOf("f"));
    await world.arrive(pullRequestState({ isFork: true }));
    const { decision } = await world.approve({ number: 7, commit: commitOf("a"), by: "maintainer" });
    expect(decision).toMatchObject({ do: "create", spec: { frontend: { branch: "trunk" } } });
  });

  test("whose host can't be asked: the decision is taken later", async () => {
    const world = worldOf(scene);
    world.branchHeads.setReachable(false);
    await expect(world.arrive(pullRequestState())).rejects.toThrow(HostUnavailable);
  });

  test.each<[string, Scene]>([
    ["is not registered", { api: { companionRepository: "shop-web" } }],
    ["is a backend, too", { api: { companionRepository: "shop-web" }, others: [repositoryFixture("shop-web")] }],
    ["has no group in common", { ...scene, api: { ...scene.api, access: { groups: ["a"] } }, others: [ofGroup("b")] }],
    ["is full", { ...scene, others: [{ ...web, spec: { ...web.spec, maxEnvironments: 0 } }] }],
  ])("that %s: there is no environment", async (_what, broken) => {
    expect(await specOf(broken)).toEqual(["companion_repo"]);
  });

  test("a frontend needs a backend", async () => {
    expect(await specOf({ api: { type: "frontend" } })).toEqual(["companion_repo"]);
    const api = { type: "frontend", companionRepository: "shop-core" } as const;
    expect(await specOf({ api, others: [repositoryFixture("shop-core")] })).toMatchObject({
      backend: { repository: "shop-core", branch: "main" },
      frontend: { repository: "shop-api", branch: "feature", commit: commitOf("a") },
    });
  });

  test("shares the environment with the groups of both", async () => {
    const api = { companionRepository: "shop-web", access: { groups: ["a", "b"] } };
    expect(await specOf({ api, others: [ofGroup("b")] })).toMatchObject({ access: { groups: ["b"] } });
  });

  function ofGroup(group: string): Repository {
    return repositoryFixture("shop-web", { type: "frontend", access: { groups: [group] } });
  }
});

describe("a fork", () => {
  const fork = pullRequestState({ isFork: true, updatedAt: "2026-01-01T00:00:00Z" });
  const approval = { number: 7, commit: commitOf("a"), by: "maintainer" };

  test("gets an environment by a maintainer's approval, of exactly that commit", async () => {
    const world = worldOf({ rules: { forks: "approve", createOn: ["opened"] } });
    expect((await world.arrive(fork)).decision).toMatchObject({ do: "nothing", reason: "ForkNotApproved" });
    const wrong = await world.approve({ ...approval, commit: commitOf("b") });
    expect(wrong.decision).toMatchObject({ do: "nothing", reason: "ForkNotApproved" });
    const { decision } = await world.approve(approval);
    const source = { branch: "refs/pull/7/head", commit: commitOf("a") };
    expect(decision).toMatchObject({ do: "create", spec: { backend: source } });
  });

  test("that is approved and then pushed to keeps the approved commit", async () => {
    const world = worldOf({ rules: { forks: "approve" } });
    await world.arrive(fork);
    await world.approve(approval);
    const pushed = { ...fork, action: "synchronize", headCommit: commitOf("c") } as const;
    const { decision } = await world.arrive({ ...pushed, updatedAt: "2026-01-01T00:01:00Z" });
    expect(decision).toMatchObject({ do: "nothing", reason: "ForkNotApproved" });
    const next = await world.approve({ ...approval, commit: commitOf("c") });
    expect(next.decision).toMatchObject({ do: "update", spec: { backend: { commit: commitOf("c") } } });
  });

  test("an approval that is known before the pull request is remembered", async () => {
    const world = worldOf({ rules: { forks: "approve" } });
    expect((await world.approve(approval)).decision).toMatchObject({ do: "nothing", reason: "PullRequestUnknown" });
    expect((await world.arrive(fork)).decision).toMatchObject({ do: "create" });
  });

  test.each<[string, ConfigSetSpec]>([
    ["variables", { env: [{ name: "STRIPE", secretRef }] }],
    ["variables of a component", { helmValues: { backend: { env: [{ name: "STRIPE", secretRef }] } } }],
    ["shared API keys", { sharedApiKeys: [{ name: "STRIPE", secretRef }] }],
  ])("gets no config set that has secrets: %s", async (_what, set) => {
    const world = worldOf({ rules: { forks: "approve", configSet: "web" }, set });
    await world.arrive(fork);
    const { decision, trace } = await world.approve(approval);
    expect(decision).toMatchObject({ do: "nothing", reason: "ConfigSetUnusable" });
    expect(trace.at(-1)).toMatchObject({ rule: "config_set", passed: false });
  });
});

describe("its pipeline", () => {
  const pipeline = { project: "shop/shop-api", id: 7, commit: commitOf("a"), status: "success", at: CREATED } as const;
  const scene: Scene = { api: { pipeline: { createOnSuccess: false } } };

  test("that ended before the pull request was opened is recorded", async () => {
    const world = worldOf(scene);
    await world.settle(world.claim({ type: "pipeline", pipeline: { ...pipeline, status: "running" } }));
    await world.settle(world.claim({ type: "pipeline", pipeline: { ...pipeline, branch: "feature" } }));
    await world.settle(world.claim({ type: "pipeline", pipeline: { ...pipeline, id: 8, commit: commitOf("b") } }));
    const { decision } = await world.arrive(pullRequestState());
    expect(decision).toMatchObject({ do: "create", spec: { backend: { pipelines: [pipeline] } } });
  });

  test("that reports before the push it is of is recorded with the commit", async () => {
    const world = worldOf(scene);
    await world.arrive(pullRequestState({ updatedAt: "2026-01-01T00:00:00Z" }));
    const next = { ...pipeline, id: 8, commit: commitOf("b") };
    await world.settle(world.claim({ type: "pipeline", pipeline: next }));
    const pushed = { action: "synchronize", headCommit: commitOf("b"), updatedAt: "2026-01-01T00:01:00Z" } as const;
    const { decision } = await world.arrive(pullRequestState(pushed));
    expect(decision).toMatchObject({ do: "update", spec: { backend: { commit: commitOf("b"), pipelines: [next] } } });
  });

  test("is not looked for where the Repository has none", async () => {
    const world = worldOf({});
    await world.settle(world.claim({ type: "pipeline", pipeline }));
    const { decision } = await world.arrive(pullRequestState());
    expect(decision).toMatchObject({ do: "create" });
    expect(decision).not.toHaveProperty("spec.backend.pipelines");
  });
});
