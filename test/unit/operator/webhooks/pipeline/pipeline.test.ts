import { describe, expect, test } from "@jest/globals";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../../../crds/environment/ephemeral-environment.ts";
import { HostUnavailable } from "../../../../../crds/errors.ts";
import { RECONCILE_ANNOTATION } from "../../../../../crds/group.ts";
import type { RepositorySpec } from "../../../../../crds/repository/repository.ts";
import type { PipelineState } from "../../../../../crds/webhooks/webhook-event.schema.ts";
import { pipelineOf } from "../../../../../operator/webhooks/pipeline/report.ts";
import {
  CREATED,
  environmentFixture,
  repositoryFixture,
} from "../../../../support/fixtures/environment/environment-fixture.ts";
import { commitOf, pullRequestState, shopApi, WebhookWorld } from "../../../../support/worlds/webhook-world.ts";

const a = commitOf("a");
const b = commitOf("b");
const main = { repository: "shop-api", branch: "main" };
const byPipeline: EnvironmentSpec["trigger"] = { kind: "pipeline", provider: "", repository: "shop-api" };

function pipeline(more: Partial<PipelineState> = {}): PipelineState {
  return { project: "shop/shop-api", id: 7, commit: a, branch: "main", status: "success", at: CREATED, ...more };
}

function worldOf(spec: Partial<RepositorySpec> = { pipeline: {} }): WebhookWorld {
  return new WebhookWorld({ repositories: [shopApi({ pullRequest: {}, ...spec })] });
}

const report = (world: WebhookWorld, more: Partial<PipelineState> = {}) =>
  world.decide(world.claim({ type: "pipeline", pipeline: pipeline(more) }));
const decisions = async (...args: Parameters<typeof report>) =>
  (await report(...args)).map(({ decision }) => [decision.do, decision.reason]);

function put(world: WebhookWorld, spec: Partial<EnvironmentSpec>, status?: EphemeralEnvironment["status"]): void {
  world.put(environmentFixture({ metadata: { name: "shop" }, spec, status }));
}

describe("an environment that wants the commit", () => {
  const recorded = (more: Partial<PipelineState> = {}) => ({
    ...main,
    commit: a,
    pipelines: [pipelineOf(pipeline(more))],
  });

  test.each<[PipelineState["status"], string]>([
    ["running", "PipelineRunning"],
    ["success", "PipelineSucceeded"],
    ["failed", "PipelineFailed"],
    ["canceled", "PipelineCanceled"],
  ])("records that its pipeline is %s", async (status, reason) => {
    const world = worldOf();
    put(world, { backend: { ...main, commit: a } });
    const [decided] = await report(world, { status });
    const spec = { backend: { ...main, commit: a, pipelines: [pipelineOf(pipeline({ status }))] } };
    expect(decided?.decision).toMatchObject({ do: "update", reason, spec });
  });

  test.each<[string, Partial<PipelineState>, Partial<PipelineState>, string]>([
    ["the same report", {}, {}, "Recorded"],
    ["the same report at another time", {}, { at: "2026-01-02T00:00:00Z" }, "Recorded"],
    ["running after its success", {}, { status: "running" }, "Outdated"],
    ["canceled after its success", {}, { status: "canceled" }, "Outdated"],
    ["an older pipeline", { status: "failed" }, { id: 6 }, "Outdated"],
    [
      "the cancellation of an earlier attempt",
      { status: "running", attempt: 2 },
      { status: "canceled", attempt: 1 },
      "Outdated",
    ],
  ])("does nothing for a replay: %s", async (_what, former, next, reason) => {
    const world = worldOf();
    put(world, { backend: recorded(former) });
    expect(await decisions(world, next)).toEqual([["nothing", reason]]);
  });

  test.each([
    [{ status: "failed" }, { status: "running" }],
    [
      { status: "running", attempt: 1 },
      { status: "running", attempt: 2 },
    ],
  ] as const)("records a retry: %j, then %j", async (former, next) => {
    const world = worldOf();
    put(world, { backend: recorded(former) });
    expect(await decisions(world, next)).toEqual([["update", "PipelineRunning"]]);
  });

  test.each(["failed", "canceled", "success"] as const)("is not touched by another project's: %s", async (status) => {
    const world = worldOf({ pipeline: { onCanceled: "any", createOnSuccess: false } });
    world.repositories.put(repositoryFixture("other", { pipeline: { onCanceled: "any", createOnSuccess: false } }));
    put(world, { backend: { ...main, commit: a } });
    const event = { type: "pipeline", pipeline: pipeline({ project: "shop/other", status }) } as const;
    const decided = await world.decide(world.claim(event, "other", "other"));
    expect(decided.map(({ decision }) => decision.do)).toEqual(["nothing"]);
  });
});

describe("a run that does not count", () => {
  const byComment = { workflow: ".github/workflows/triage.yml", event: "issue_comment" };

  // Abuse case 117: everyone with the right to comment can make a workflow of the default branch run, and fail.
  test.each(["running", "failed", "canceled", "success"] as const)("changes nothing: %s", async (status) => {
    const world = worldOf({ pipeline: { onCanceled: "any" } });
    world.branchHeads.push("shop-api", "main", a);
    put(world, { backend: { ...main, commit: a } });
    const [decided] = await report(world, { ...byComment, status });
    expect(decided?.decision).toMatchObject({ do: "nothing", reason: "NotCounted" });
    expect(decided?.trace).toEqual([
      { repository: "shop-api", rule: "events", passed: false, message: expect.stringContaining("'issue_comment'") },
    ]);
  });

  test("makes no environment", async () => {
    const world = worldOf({ pipeline: { workflows: ["build.yml"] } });
    world.branchHeads.push("shop-api", "main", a);
    expect(await decisions(world, byComment)).toEqual([["nothing", "NotCounted"]]);
    const lint = { workflow: ".github/workflows/lint.yml", event: "push" };
    expect(await decisions(world, lint)).toEqual([["nothing", "NotCounted"]]);
    expect(await decisions(world, { ...lint, workflow: ".github/workflows/build.yml" })).toEqual([
      ["create", "PipelineSucceeded"],
    ]);
  });

  test("is not taken along with a new commit that its report came before", async () => {
    const world = worldOf({ pipeline: {}, pullRequest: { enabled: true } });
    await report(world, { ...byComment, status: "failed" });
    const { decision } = await world.arrive(pullRequestState({ headCommit: a }));
    expect(decision).toMatchObject({ do: "create" });
    expect(decision).not.toHaveProperty("spec.backend.pipelines");
  });
});

describe("several workflows of a commit", () => {
  const build = { workflow: ".github/workflows/build.yml", event: "push", id: 7 };
  const lint = { workflow: ".github/workflows/lint.yml", event: "push", id: 8 };

  test("are recorded beside each other, in whatever order they report", async () => {
    const world = worldOf();
    put(world, { backend: { ...main, commit: a } });
    for (const state of [lint, { ...build, status: "running" as const }, build]) {
      await world.settle(world.claim({ type: "pipeline", pipeline: pipeline(state) }));
    }
    expect(world.environments.get("shop")?.spec.backend.pipelines).toEqual(
      [lint, build].map((state) => pipelineOf(pipeline(state))),
    );
    expect(await decisions(world, { ...lint, id: 6, status: "failed" })).toEqual([["nothing", "Outdated"]]);
    expect(await decisions(world, { ...lint, id: 9, status: "failed" })).toEqual([["update", "PipelineFailed"]]);
  });

  test.each<[string, readonly Partial<PipelineState>[], readonly string[]]>([
    ["the last success", [{ ...build, status: "running" }, lint, build], ["NoEnvironment", "NotBuilt", "made"]],
    [
      "the success of a run after one that failed",
      [{ ...build, status: "failed" }, lint, { ...build, id: 9 }],
      ["NoEnvironment", "NotBuilt", "made"],
    ],
    [
      "no success before a newer run of the workflow that failed",
      [{ ...build, id: 9, status: "failed" }, build, lint],
      ["NoEnvironment", "NotBuilt", "NotBuilt"],
    ],
    [
      "a success, whatever workflows do that do not count",
      [{ ...lint, event: "schedule", status: "failed" }, build],
      ["NotCounted", "made"],
    ],
  ])("make an environment by %s", async (_what, reports, expected) => {
    const world = worldOf();
    world.branchHeads.push("shop-api", "main", a);
    const done: string[] = [];
    for (const [index, state] of reports.entries()) {
      world.nowMs += 1000 * index;
      const { decision } = await world.settle(world.claim({ type: "pipeline", pipeline: pipeline(state) }));
      done.push(decision.do === "create" ? "made" : decision.reason);
    }
    expect(done).toEqual(expected);
  });

  test("are all taken along with the environment that the last of them makes", async () => {
    const world = worldOf();
    world.branchHeads.push("shop-api", "main", a);
    for (const state of [{ ...build, status: "running" as const }, lint, build]) {
      await world.settle(world.claim({ type: "pipeline", pipeline: pipeline(state) }));
    }
    const [made] = world.living;
    expect(made?.spec.backend.pipelines?.map(({ workflow, status }) => [workflow, status])).toEqual([
      [lint.workflow, "success"],
      [build.workflow, "success"],
    ]);
  });
});

describe("an environment that follows the branch", () => {
  const resolved = { sources: { backend: { resolved: { branch: "main", commit: b } } } };

  test("records the pipeline of the new head, and reads it", async () => {
    const world = worldOf();
    put(world, { backend: { ...main, follow: true } }, resolved);
    world.branchHeads.push("shop-api", "main", a);
    const [decided] = await report(world, { status: "running" });
    const annotations = { [RECONCILE_ANNOTATION]: expect.any(String) };
    expect(decided?.decision).toMatchObject({ do: "update", reason: "PipelineRunning", annotations });
  });

  test("is not touched by the pipeline of a commit that is not the head", async () => {
    const world = worldOf();
    put(world, { backend: { ...main, follow: true } }, resolved);
    world.branchHeads.push("shop-api", "main", b);
    expect(await decisions(world, { status: "failed" })).toEqual([["nothing", "NoEnvironment"]]);
  });

  test("waits for a host that can't be asked", async () => {
    const world = worldOf();
    put(world, { backend: { ...main, follow: true } }, resolved);
    world.branchHeads.setReachable(false);
    await expect(report(world)).rejects.toThrow(HostUnavailable);
  });
});

describe("a canceled pipeline", () => {
  const running = pipelineOf(pipeline({ status: "running" }));
  const making = { trigger: byPipeline, backend: { ...main, commit: a, pipelines: [running] } };
  const applied = { sources: { backend: { applied: { branch: "main", commit: b, image: "i:b" } } } };

  test.each<[string, string, Partial<EnvironmentSpec>, EphemeralEnvironment["status"]?, Partial<RepositorySpec>?]>([
    ["own: what it is making", "delete", making],
    ["own: not what runs", "update", making, applied],
    ["own: not what a user made", "update", { ...making, trigger: { kind: "api" } }],
    ["own: not a protected one", "nothing", { ...making, protected: true }],
    ["ignore", "update", making, undefined, { pipeline: { onCanceled: "ignore" } }],
    ["any", "delete", { backend: { ...main, commit: a } }, applied, { pipeline: { onCanceled: "any" } }],
  ])("on_canceled %s", async (_what, expected, ...[spec, status, repository]) => {
    const world = worldOf({ pipeline: {}, ...repository });
    put(world, spec, status);
    expect((await decisions(world, { status: "canceled" })).map(([done]) => done)).toEqual([expected]);
  });

  test("from before the environment deletes nothing", async () => {
    const world = worldOf({ pipeline: { onCanceled: "any" } });
    put(world, { backend: { ...main, commit: a } });
    const at = "2025-12-31T00:00:00Z";
    expect((await decisions(world, { status: "canceled", at })).map(([done]) => done)).toEqual(["update"]);
  });
});

test.each([
  ["with `pipeline` records it", { pipeline: {} }, "update"],
  ["without it waits for none, and gets no second environment", {}, "nothing"],
])("a pull request of a Repository %s", async (_what, spec, expected) => {
  for (const status of ["running", "success"] as const) {
    const world = worldOf(spec);
    world.branchHeads.push("shop-api", "feature", a);
    const trigger = { kind: "pull_request", provider: "", repository: "shop-api", number: 7 } as const;
    put(world, { backend: { ...main, branch: "feature", commit: a }, trigger });
    expect((await report(world, { branch: "feature", status })).map(({ decision }) => decision.do)).toEqual([expected]);
  }
});

describe("a success without an environment", () => {
  async function created(spec: Partial<RepositorySpec>, more: Partial<PipelineState> = {}) {
    const world = worldOf(spec);
    world.branchHeads.push("shop-api", more.branch ?? "main", a);
    return (await report(world, more)).map(({ decision, trace }) => ({
      done: decision.do === "create" ? decision.name : decision.reason,
      broken: trace.filter(({ passed }) => !passed).map(({ rule }) => rule),
    }));
  }

  const made = { done: "shop-api-main", broken: [] };
  const refused = (done: string, rule: string) => ({ done, broken: [rule] });

  test("creates one that follows the branch", async () => {
    const world = worldOf();
    world.branchHeads.push("shop-api", "main", a);
    const [decided] = await report(world);
    expect(decided?.decision).toMatchObject({
      do: "create",
      name: "shop-api-main",
      reason: "PipelineSucceeded",
      spec: {
        ttlHours: 24,
        backend: { ...main, follow: true, pipelines: [pipelineOf(pipeline())] },
        trigger: byPipeline,
      },
    });
  });

  test.each<[string, Partial<RepositorySpec>, Partial<PipelineState>, object]>([
    ["by default", {}, {}, made],
    ["beside pull requests", { pullRequest: { enabled: true } }, {}, made],
    ["create_on_success", { pipeline: { createOnSuccess: false } }, {}, refused("CreatesNone", "create_on_success")],
    ["max_environments", { maxEnvironments: 0 }, {}, refused("RepositoryFull", "max_environments")],
    [
      "not a pull request's, whose own rules decide",
      { pullRequest: { enabled: true } },
      { event: "pull_request" },
      refused("OfPullRequest", "pull_request"),
    ],
    ["a pull request's, where pull requests have no rules", {}, { event: "pull_request" }, made],
    ["a push's beside pull requests", { pullRequest: { enabled: true } }, { event: "push" }, made],
    ["not the head", {}, { commit: b }, refused("NotTheHead", "branch_head")],
    ["an invalid branch", {}, { branch: "-x" }, refused("BranchInvalid", "head_branch")],
  ])("%s", async (_what, spec, more, expected) => {
    expect(await created(spec, more)).toEqual([expected]);
  });

  test.each([
    ["without a required label", { labels: [] }, undefined],
    ["that is closed", { state: "closed", action: "closed", labels: ["preview"] }, undefined],
    ["without a required label, run for a push", { labels: [] }, "push"],
    ["without a required label, run for it", { labels: [] }, "pull_request"],
  ] as const)("of the head of a pull request %s creates nothing", async (_what, state, event) => {
    const world = worldOf({ pullRequest: { enabled: true, requiredLabels: ["preview"] } });
    world.branchHeads.push("shop-api", "feature", a);
    await world.arrive(pullRequestState({ ...state, labels: [...state.labels] }));
    const run = { branch: "feature", ...(event && { event }) };
    expect(await decisions(world, run)).toEqual([["nothing", "OfPullRequest"]]);
    expect(await decisions(world, { ...run, status: "failed", id: 8 })).toEqual([["nothing", "NoEnvironment"]]);
  });

  test.each([
    ["of a fork's branch of the same name", { isFork: true }, {}],
    ["of another branch with the same commit", { headRef: "other" }, {}],
    ["of an earlier commit", { headCommit: b }, {}],
  ] as const)("beside a pull request %s creates one", async (_what, state, run) => {
    const world = worldOf({ pullRequest: { enabled: true, requiredLabels: ["preview"] } });
    world.branchHeads.push("shop-api", "feature", a);
    await world.arrive(pullRequestState(state));
    expect(await decisions(world, { branch: "feature", ...run })).toEqual([["create", "PipelineSucceeded"]]);
  });

  test("without a branch, as the contract's body is, makes one of the default branch if the commit is its head", async () => {
    const { branch: _, ...unnamed } = pipeline();
    for (const [head, made] of [
      [a, "create"],
      [b, "nothing"],
    ] as const) {
      const world = worldOf();
      world.branchHeads.push("shop-api", "main", head);
      const [decided] = await world.decide(world.claim({ type: "pipeline", pipeline: unnamed }));
      expect(decided?.decision.do).toBe(made);
    }
  });

  test("names are distinguished from each other", async () => {
    const names = ["feature/a", "feature-a", "Feature-A", "ä", "ö", "x".repeat(100), `${"x".repeat(100)}y`];
    const made = await Promise.all(names.map((branch) => created({}, { branch })));
    const all = made.map(([one]) => one?.done ?? "");
    expect(new Set(all).size).toBe(names.length);
    expect(all.every((name) => /^shop-api(-[a-z0-9]+)+$/.test(name) && name.length <= 50)).toBe(true);
  });

  test("not what a user deleted before, for the same commit", async () => {
    const world = worldOf();
    world.branchHeads.push("shop-api", "main", a);
    await world.settle(world.claim({ type: "pipeline", pipeline: pipeline() }));
    const [environment] = world.living;
    world.nowMs += 60_000;
    if (environment !== undefined) {
      const backend = { ...environment.spec.backend, commit: a };
      world.put({ ...environment, spec: { ...environment.spec, backend } });
      world.remove(world.environments.get("shop-api-main") ?? environment);
    }
    expect(await decisions(world, { id: 8, at: "2026-01-01T00:02:00Z" })).toEqual([["wait", "NameTerminating"]]);
    world.finishDeletions();
    expect(await decisions(world, { id: 8, at: "2026-01-01T00:02:00Z" })).toEqual([["nothing", "DeletedBefore"]]);
    world.branchHeads.push("shop-api", "main", b);
    expect(await decisions(world, { id: 9, commit: b, at: "2026-01-01T00:00:30Z" })).toEqual([
      ["nothing", "DeletedBefore"],
    ]);
    expect(await decisions(world, { id: 9, commit: b, at: "2026-01-01T00:03:00Z" })).toEqual([
      ["create", "PipelineSucceeded"],
    ]);
  });

  test.each(["running", "failed", "canceled"] as const)("%s creates none", async (status) => {
    expect(await decisions(worldOf(), { status })).toEqual([["nothing", "NoEnvironment"]]);
  });
});
