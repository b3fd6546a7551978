import { describe, expect, test } from "@jest/globals";
import type { Settings } from "../../../../../config/settings.ts";
import type { PullRequestRules } from "../../../../../crds/repository/webhook-rules.schema.ts";
import type { PullRequestState } from "../../../../../crds/webhooks/webhook-event.schema.ts";
import {
  environmentFixture,
  fixtureSettings,
  repositoryFixture,
} from "../../../../support/fixtures/environment/environment-fixture.ts";
import { commitOf, pullRequestState, shopApi, WebhookWorld } from "../../../../support/worlds/webhook-world.ts";

async function decided(
  rules: PullRequestRules,
  state: Partial<PullRequestState> = {},
  webhooks: Partial<Settings["webhooks"]> = {},
) {
  const settings = { webhooks: { ...fixtureSettings.webhooks, ...webhooks } };
  const world = new WebhookWorld({ repositories: [shopApi({ pullRequest: { enabled: true, ...rules } })], settings });
  const { decision, trace } = await world.arrive(pullRequestState(state));
  return { done: decision.do, broken: trace.filter(({ passed }) => !passed).map(({ rule }) => rule) };
}

const created = { done: "create", broken: [] };
const refused = (rule: string) => ({ done: "nothing", broken: [rule] });

describe("rules for the creation of a pull request's environment", () => {
  test.each<[string, PullRequestRules, Partial<PullRequestState>, object]>([
    ["enabled: true", {}, {}, created],
    ["enabled: false", { enabled: false }, {}, refused("enabled")],
    ["create_on has the action", { createOn: ["opened"] }, {}, created],
    ["create_on lacks the action", { createOn: ["reopened"] }, {}, refused("create_on")],
    ["create_on is left out: synchronize", {}, { action: "synchronize" }, created],
    ["create_on never has unlabeled", {}, { action: "unlabeled" }, refused("create_on")],
    ["create_on never has other actions", {}, { action: "other" }, refused("create_on")],
    ["create_on: a new base counts as opened", { createOn: ["opened"] }, { action: "edited" }, created],
    ["create_on: a new base without opened", { createOn: ["labeled"] }, { action: "edited" }, refused("create_on")],
    ["create_on: updated may be labeled", { createOn: ["labeled"] }, { action: "updated" }, created],
    ["create_on: updated is never opened", { createOn: ["opened"] }, { action: "updated" }, refused("create_on")],
    ["skip_draft: a draft", { skipDraft: true }, { draft: true }, refused("skip_draft")],
    ["skip_draft: false, a draft", {}, { draft: true }, created],
    ["required_labels: all are there", { requiredLabels: ["a", "b"] }, { labels: ["b", "c", "a"] }, created],
    ["required_labels: one lacks", { requiredLabels: ["a", "b"] }, { labels: ["a"] }, refused("required_labels")],
    ["branch_pattern matches", { branchPattern: "(feature|fix)/.+" }, { headRef: "fix/x" }, created],
    [
      "branch_pattern matches a part",
      { branchPattern: "feature" },
      { headRef: "feature/x" },
      refused("branch_pattern"),
    ],
    [
      "branch_pattern: an alternative is whole, too",
      { branchPattern: "a|b" },
      { headRef: "ab" },
      refused("branch_pattern"),
    ],
    ["branch_pattern is no RE2", { branchPattern: "(?=a)" }, {}, refused("branch_pattern")],
    ["base_pattern matches", { basePattern: "main|release/.*" }, { baseRef: "release/1" }, created],
    ["base_pattern does not match", { basePattern: "main" }, { baseRef: "stack" }, refused("base_pattern")],
    ["forks: deny", {}, { isFork: true }, refused("forks")],
    ["forks: approve, not approved", { forks: "approve" }, { isFork: true }, refused("forks")],
    ["a branch that an environment can't have", {}, { headRef: "-x" }, refused("head_branch")],
  ])("%s", async (_what, rules, state, expected) => {
    expect(await decided(rules, state)).toEqual(expected);
  });

  test.each<[string, Partial<Settings["webhooks"]>, object]>([
    ["allowed_organizations has its organization", { allowedOrganizations: ["SHOP"] }, created],
    ["allowed_organizations has others", { allowedOrganizations: ["sho"] }, refused("allowed_organizations")],
    ["allowed_repositories has it", { allowedRepositories: ["shop/Shop-Api"] }, created],
    ["allowed_repositories has others", { allowedRepositories: ["shop/shop-web"] }, refused("allowed_repositories")],
  ])("%s", async (_what, webhooks, expected) => {
    expect(await decided({}, {}, webhooks)).toEqual(expected);
  });

  test("a pattern that backtracks elsewhere is answered", async () => {
    const headRef = "a".repeat(240);
    expect(await decided({ branchPattern: "(a+)+b" }, { headRef })).toEqual(refused("branch_pattern"));
  });

  test("max_environments counts environments of the Repository", async () => {
    const world = new WebhookWorld({ repositories: [shopApi({ maxEnvironments: 1, pullRequest: { enabled: true } })] });
    expect((await world.arrive(pullRequestState())).decision).toMatchObject({ do: "create", name: "shop-api-pr-7" });
    const second = await world.arrive(pullRequestState({ number: 8 }));
    expect(second.decision).toMatchObject({ do: "nothing", reason: "RepositoryFull" });
  });

  test("a Repository that is being deleted gets none", async () => {
    const { metadata, spec } = shopApi();
    const repository = { spec, metadata: { ...metadata, deletionTimestamp: metadata.creationTimestamp } };
    const world = new WebhookWorld({ repositories: [{ ...shopApi(), ...repository }] });
    expect((await world.arrive(pullRequestState())).decision).toMatchObject({ do: "nothing", reason: "Disabled" });
  });

  test("an environment of another origin keeps its name", async () => {
    const world = new WebhookWorld();
    world.put(environmentFixture({ metadata: { name: "shop-api-pr-7" }, spec: { trigger: { kind: "api" } } }));
    expect((await world.arrive(pullRequestState())).decision).toMatchObject({ do: "nothing", reason: "NameTaken" });
    const end = await world.arrive(pullRequestState({ state: "closed", action: "closed" }));
    expect(end.decision).toMatchObject({ do: "nothing", reason: "Closed" });
  });
});

describe("what happens to an environment that exists", () => {
  const both = { enabled: true, skipDraft: true, requiredLabels: ["preview"] } as const;
  const first = pullRequestState({ labels: ["preview"], updatedAt: "2026-01-01T00:00:00Z" });

  async function outcomeOf(
    later: Partial<PullRequestState>,
    more: Partial<PullRequestRules> = {},
    shield: { readonly protected?: boolean; readonly protectedUntil?: string } = {},
  ) {
    const rules = { ...both, requiredLabels: [...both.requiredLabels] };
    const world = new WebhookWorld({ repositories: [shopApi({ pullRequest: rules })] });
    await world.arrive(first);
    const [environment] = world.living;
    if (environment !== undefined) world.put({ ...environment, spec: { ...environment.spec, ...shield } });
    // Rules may change in between.
    world.repositories.put(shopApi({ pullRequest: { ...rules, ...more } }));
    const { decision } = await world.arrive({ ...first, updatedAt: "2026-01-01T00:01:00Z", ...later });
    return [decision.do, decision.reason];
  }

  const closed = { action: "closed", state: "closed" } as const;
  const pushed = { action: "synchronize", headCommit: commitOf("b") } as const;
  test.each<[string, Partial<PullRequestState>, Partial<PullRequestRules>, string[]]>([
    ["a new commit updates it", pushed, {}, ["update", "NewCommit"]],
    ["the same commit changes nothing", { action: "labeled", label: "bug" }, {}, ["nothing", "UpToDate"]],
    ["closed deletes it", closed, {}, ["delete", "Closed"]],
    ["merged deletes it", { ...closed, merged: true }, {}, ["delete", "Merged"]],
    ["closed deletes it, whatever its labels are", { ...closed, labels: [], draft: true }, {}, ["delete", "Closed"]],
    ["closed deletes it, even if nothing is enabled any more", closed, { enabled: false }, ["delete", "Closed"]],
    ["delete_on without this end keeps it", closed, { deleteOn: ["merged"] }, ["nothing", "KeptUntilExpiry"]],
    ["delete_on with this end", { ...closed, merged: true }, { deleteOn: ["merged"] }, ["delete", "Merged"]],
    ["a lost required label deletes it", { action: "unlabeled", labels: [] }, {}, ["delete", "LabelMissing"]],
    ["a draft under skip_draft deletes it", { action: "converted_to_draft", draft: true }, {}, ["delete", "Draft"]],
    ["a changed pattern deletes nothing", pushed, { branchPattern: "x" }, ["update", "NewCommit"]],
    [
      "a changed base deletes nothing",
      { action: "edited", baseRef: "x" },
      { basePattern: "main" },
      ["nothing", "UpToDate"],
    ],
    ["create_on does not gate updates", pushed, { createOn: ["opened"] }, ["update", "NewCommit"]],
    ["an older event changes nothing", { ...closed, updatedAt: "2025-12-31T23:00:00Z" }, {}, ["nothing", "UpToDate"]],
    [
      "of two states of one second, closed wins",
      { ...closed, updatedAt: "2026-01-01T00:00:00Z" },
      {},
      ["delete", "Closed"],
    ],
  ])("%s", async (_what, later, rules, expected) => {
    expect(await outcomeOf(later, rules)).toEqual(expected);
  });

  test.each<[string, Partial<PullRequestState>, string[]]>([
    ["stays when the pull request is closed", closed, ["nothing", "Protected"]],
    ["goes on with its draft", { ...pushed, draft: true }, ["update", "NewCommit"]],
  ])("a protected one %s", async (_what, later, expected) => {
    expect(await outcomeOf(later, {}, { protected: true })).toEqual(expected);
    expect(await outcomeOf(later, {}, { protectedUntil: "2026-01-09T00:00:00Z" })).toEqual(expected);
  });

  test("a terminating name is waited for", async () => {
    const world = new WebhookWorld();
    const state = pullRequestState({ action: "reopened", updatedAt: "2026-01-01T01:00:00Z" });
    const delivery = world.claim({ type: "pull_request", pullRequest: { ...state } });
    expect((await world.settle(delivery)).decision).toMatchObject({ do: "create" });
    for (const environment of world.living) world.remove(environment);
    const again = world.claim({ type: "pull_request", pullRequest: { ...state, updatedAt: "2026-01-01T02:00:00Z" } });
    expect((await world.settle(again)).decision).toMatchObject({ do: "wait", reason: "NameTerminating" });
    world.finishDeletions();
    expect((await world.settle(again)).decision).toMatchObject({ do: "create" });
  });
});

describe("what was there before", () => {
  const minutes = (count: number) => new Date(Date.parse("2026-01-01T00:00:00Z") + count * 60_000).toISOString();
  const rules = { enabled: true, skipDraft: true, requiredLabels: ["preview"] };
  const open = pullRequestState({ labels: ["preview"], updatedAt: minutes(0) });

  /** A user deletes the environment, or it expires, 10 minutes after the pull request was opened. */
  async function worldAfter(reason: "deleted" | "expired") {
    const world = new WebhookWorld({ repositories: [shopApi({ pullRequest: rules })] });
    await world.arrive(open);
    world.nowMs += 10 * 60_000;
    for (const environment of world.living) world.remove(environment);
    world.nowMs += 5 * 60_000;
    world.finishDeletions(reason);
    return world;
  }

  describe.each(["deleted", "expired"] as const)("%s", (reason) => {
    test.each<[string, Partial<PullRequestState>, string]>([
      ["a new commit", { action: "synchronize", headCommit: commitOf("b"), updatedAt: minutes(20) }, "create"],
      ["reopened", { action: "reopened", updatedAt: minutes(20) }, "create"],
      ["a required label", { action: "labeled", label: "preview", updatedAt: minutes(20) }, "create"],
      ["another label", { action: "labeled", label: "bug", updatedAt: minutes(20) }, "nothing"],
      ["the same commit", { action: "synchronize", updatedAt: minutes(20) }, "nothing"],
      ["ready for review", { action: "ready_for_review", updatedAt: minutes(20) }, "nothing"],
      ["a commit from before", { action: "synchronize", headCommit: commitOf("b"), updatedAt: minutes(5) }, "nothing"],
      ["reopened before", { action: "reopened", updatedAt: minutes(5) }, "nothing"],
      ["an equal event again", { updatedAt: minutes(0) }, "nothing"],
    ])("%s", async (_what, later, expected) => {
      const world = await worldAfter(reason);
      const { decision } = await world.arrive({ ...open, ...later });
      expect(decision.do).toBe(expected);
      if (expected === "nothing") expect(decision.reason).toBe("DeletedBefore");
    });

    test("a label of a host that names no label", async () => {
      const world = await worldAfter(reason);
      await world.arrive({ ...open, action: "updated", labels: [], updatedAt: minutes(20) });
      const { decision } = await world.arrive({ ...open, action: "updated", updatedAt: minutes(21) });
      expect(decision.do).toBe("create");
    });
  });

  test("what an event deleted comes back although the outcome of its delivery was lost", async () => {
    const world = new WebhookWorld({ repositories: [shopApi({ pullRequest: rules })] });
    await world.arrive(open);
    world.nowMs += 60_000;
    await world.arrive({ ...open, action: "converted_to_draft", draft: true, updatedAt: minutes(1) });
    for (const delivery of world.deliveries) Object.assign(delivery, { status: undefined });
    world.nowMs += 60_000;
    world.finishDeletions();
    const { decision } = await world.arrive({ ...open, action: "ready_for_review", updatedAt: minutes(2) });
    expect(decision.do).toBe("create");
  });
});

test("a name that is too long is shortened, and still distinct from others", async () => {
  const names = ["shop-".repeat(9).concat("one"), "shop-".repeat(9).concat("two")];
  const created = names.map(async (name) => {
    const world = new WebhookWorld({ repositories: [repositoryFixture(name, { pullRequest: { enabled: true } })] });
    const delivery = world.claim({ type: "pull_request", pullRequest: pullRequestState({ number: 123 }) }, "d", name);
    await world.settle(delivery);
    return world.living.map(({ metadata }) => metadata.name);
  });
  const [one = [], two = []] = await Promise.all(created);
  expect(one).not.toEqual(two);
  expect([...one, ...two].map((name) => name.length <= 50 && name.endsWith("-pr-123"))).toEqual([true, true]);
});
