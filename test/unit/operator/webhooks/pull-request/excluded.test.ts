import { describe, expect, test } from "@jest/globals";
import { type Settings, settingsFrom } from "../../../../../config/settings.ts";
import { EXCLUDED_BY_ANNOTATION } from "../../../../../crds/group.ts";
import type { RepositorySpec } from "../../../../../crds/repository/repository.ts";
import type { PullRequestState } from "../../../../../crds/webhooks/webhook-event.schema.ts";
import { environmentFixture } from "../../../../support/fixtures/environment/environment-fixture.ts";
import { testSettings } from "../../../../support/fixtures/test-settings.ts";
import { commitOf, pullRequestState, shopApi, WebhookWorld } from "../../../../support/worlds/webhook-world.ts";

const token = { name: "host-token", key: "latest" };
const { hosts } = settingsFrom({
  ...testSettings,
  hosts: [{ id: "git", kind: "github", apiUrl: "https://api.github.com", token }],
});
const requested = { feedback: { statusWithoutEnvironment: "success" } } as const;
type Rules = NonNullable<RepositorySpec["pullRequest"]>;

function worldOf(rules: Rules, spec: Partial<RepositorySpec> = requested, settings: Partial<Settings> = { hosts }) {
  const pullRequest = { enabled: true, ...rules };
  return new WebhookWorld({ repositories: [shopApi({ host: "git", pullRequest, ...spec })], settings });
}

const reportOf = (rule: string) => ({
  do: "report",
  reason: "Excluded",
  repository: { host: "git", fullName: "shop/shop-api" },
  report: {
    commit: commitOf("a"),
    context: "ephemeral-environment/shop-api",
    state: "success",
    description: `No environment is wanted: ${rule}`,
  },
});

describe("a pull request whose rules want no environment gets a success where its Repository says so", () => {
  test.each<[string, Rules, Partial<PullRequestState>]>([
    ["the pull request lacks 'preview'", { requiredLabels: ["preview"] }, {}],
    ["the pull request is a draft", { skipDraft: true }, { draft: true }],
    ["'feature' does not match 'release/.*' as a whole", { branchPattern: "release/.*" }, {}],
    ["'main' does not match 'next' as a whole", { basePattern: "next" }, {}],
    ["pull requests of forks get no environments", {}, { isFork: true }],
    ["'opened' creates no environment", { createOn: ["labeled"] }, {}],
    ["the pull request lacks 'preview'", { requiredLabels: ["preview"] }, { action: "other" }],
  ])("%s", async (rule, rules, state) => {
    const { decision } = await worldOf(rules).arrive(pullRequestState(state));
    expect(decision).toEqual(reportOf(rule));
    const silent = await worldOf(rules, {}).arrive(pullRequestState(state));
    expect(silent.decision.do).toBe("nothing");
  });
});

describe("there is none", () => {
  const labels = { requiredLabels: ["preview"] };
  test.each<[string, Rules, Partial<PullRequestState>, Parameters<typeof worldOf>[1]?, Partial<Settings>?]>([
    ["for a fork without approval", { forks: "approve" }, { isFork: true }],
    ["for a Repository that is full", {}, {}, { ...requested, maxEnvironments: 0 }],
    ["for an action that says nothing", {}, { action: "other" }],
    [
      "for an action beside a Repository that is full",
      { createOn: ["labeled"] },
      {},
      { ...requested, maxEnvironments: 0 },
      { hosts },
    ],
    ["for a branch that no environment can have", {}, { headRef: "-x" }],
    ["where pull requests get none at all", { ...labels, enabled: false }, {}],
    ["for a pull request that is closed", labels, { state: "closed", action: "closed" }],
    ["where statuses are not wanted", labels, {}, { feedback: { ...requested.feedback, status: false } }],
    ["where the settings have no token", labels, {}, requested, { hosts: hosts.map(({ token: _, ...host }) => host) }],
  ])("%s", async (_what, rules, state, ...more) => {
    const { decision } = await worldOf(rules, ...more).arrive(pullRequestState(state));
    expect(decision.do).toBe("nothing");
  });
});

test("there is none where a pipeline's environment reports the status of the commit", async () => {
  const world = worldOf({ requiredLabels: ["preview"] });
  const backend = { repository: "shop-api", branch: "feature", commit: commitOf("a") };
  const trigger = { kind: "pipeline", provider: "git", repository: "shop-api" } as const;
  const made = environmentFixture({ metadata: { name: "of-a-pipeline" }, spec: { backend, trigger } });
  world.put(made);
  expect((await world.arrive(pullRequestState())).decision.do).toBe("nothing");
  world.put({ ...made, metadata: { ...made.metadata, deletionTimestamp: made.metadata.creationTimestamp } });
  expect((await world.arrive(pullRequestState())).decision.do).toBe("report");
});

describe("an environment that a rule ends", () => {
  const rules = { requiredLabels: ["preview"] };
  const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();

  test.each([
    ["notes the rule for its last report", requested, { [EXCLUDED_BY_ANNOTATION]: "the pull request lacks 'preview'" }],
    ["notes none where no success is wanted", {}, {}],
  ] as const)("%s", async (_what, spec, noted) => {
    const world = worldOf(rules, spec);
    await world.arrive(pullRequestState({ labels: ["preview"], updatedAt: at(0) }));
    const { decision } = await world.arrive(pullRequestState({ action: "unlabeled", updatedAt: at(1) }));
    const state = { "pull-request-state": expect.any(String) };
    expect(decision).toMatchObject({ do: "delete", reason: "LabelMissing", annotations: noted });
    expect(Object.keys(decision.do === "delete" ? (decision.annotations ?? {}) : {})).toHaveLength(
      Object.keys({ ...state, ...noted }).length,
    );
  });

  test("and that was kept after all loses the note with its next commit", async () => {
    const world = worldOf(rules);
    await world.arrive(pullRequestState({ labels: ["preview"], updatedAt: at(0) }));
    const [made] = world.living;
    if (made === undefined) throw new Error("no environment");
    const annotations = { ...made.metadata.annotations, [EXCLUDED_BY_ANNOTATION]: "the pull request lacks 'preview'" };
    world.put({ ...made, metadata: { ...made.metadata, annotations } });
    const next = { labels: ["preview"], headCommit: commitOf("b"), updatedAt: at(1) };
    const { decision } = await world.arrive(pullRequestState({ action: "synchronize", ...next }));
    expect(decision).toMatchObject({ do: "update", annotations: { [EXCLUDED_BY_ANNOTATION]: null } });
  });
});
