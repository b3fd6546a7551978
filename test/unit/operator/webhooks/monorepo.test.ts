import { describe, expect, test } from "@jest/globals";
import type { EnvironmentSpec } from "../../../../crds/environment/ephemeral-environment.ts";
import { RECONCILE_ANNOTATION } from "../../../../crds/group.ts";
import { isOneRepository, type RepositorySpec } from "../../../../crds/repository/repository.ts";
import type { WebhookEvent } from "../../../../crds/webhooks/webhook-event.schema.ts";
import {
  CREATED,
  environmentFixture,
  repositoryFixture,
} from "../../../support/fixtures/environment/environment-fixture.ts";
import { commitOf, pullRequestState, shopApi, WebhookWorld } from "../../../support/worlds/webhook-world.ts";

const [a, b] = [commitOf("a"), commitOf("b")];
const MONOREPO = { fullName: "shop/shop" };

/** Two Repositories of one repository; the frontend optionally has its own pull requests. */
function monorepo(api: Partial<RepositorySpec> = {}, web: Partial<RepositorySpec> = {}): WebhookWorld {
  return new WebhookWorld({
    repositories: [
      shopApi({ ...MONOREPO, companionRepository: "shop-web", ...api }),
      repositoryFixture("shop-web", { ...MONOREPO, type: "frontend", companionRepository: "shop-api", ...web }),
    ],
  });
}

const event = (world: WebhookWorld, what: WebhookEvent) => world.claim(what, undefined, "shop-api", "shop-web");
const pull = (world: WebhookWorld, more: Parameters<typeof pullRequestState>[0] = {}) =>
  event(world, { type: "pull_request", pullRequest: pullRequestState(more) });
const run = (world: WebhookWorld, more: object = {}) =>
  event(world, {
    type: "pipeline",
    pipeline: { project: "shop/shop", id: 7, commit: a, branch: "main", status: "success", at: CREATED, ...more },
  });

describe("a pull request of a monorepo", () => {
  test("has all components at its head commit, and moves them in one write", async () => {
    const world = monorepo();
    await world.settle(pull(world));
    expect(world.living.map(({ spec }) => [spec.backend, spec.frontend])).toEqual([
      [
        { repository: "shop-api", branch: "feature", commit: a },
        { repository: "shop-web", branch: "feature", commit: a },
      ],
    ]);
    const decided = await world.decide(pull(world, { action: "synchronize", headCommit: b }));
    const writes = decided.filter(({ decision }) => decision.do === "update");
    expect(writes.map(({ decision }) => decision)).toMatchObject([
      { spec: { backend: { commit: b }, frontend: { repository: "shop-web", commit: b } }, reason: "NewCommit" },
    ]);
  });

  test("moves a component that was left behind", async () => {
    const world = monorepo();
    await world.settle(pull(world));
    const [made] = world.living;
    if (made === undefined) throw new Error("no environment");
    world.put({ ...made, spec: { ...made.spec, frontend: { repository: "shop-web", branch: "feature" } } });
    const [{ decision } = {}] = await world.decide(pull(world, { action: "synchronize" }));
    expect(decision).toMatchObject({ do: "update", spec: { frontend: { commit: a } } });
    expect(decision).not.toHaveProperty("spec.backend");
  });

  test("takes the reports of its pipelines along for each component that has pipelines", async () => {
    const world = monorepo({ pipeline: {} }, { pipeline: { workflows: ["web.yml"] } });
    await world.decide(run(world, { branch: "feature", status: "running" }));
    await world.settle(pull(world));
    const [made] = world.living;
    expect(made?.spec.backend.pipelines).toMatchObject([{ id: 7, status: "running" }]);
    expect(made?.spec.frontend).not.toHaveProperty("pipelines");
  });

  test("leaves a companion that is another repository on its branch", async () => {
    const world = monorepo({}, { fullName: "shop/web" });
    await world.settle(world.claim({ type: "pull_request", pullRequest: pullRequestState() }));
    const next = pullRequestState({ action: "synchronize", headCommit: b });
    const [{ decision } = {}] = await world.decide(world.claim({ type: "pull_request", pullRequest: next }));
    expect(decision).toMatchObject({ do: "update", spec: { backend: { commit: b } } });
    expect(decision).not.toHaveProperty("spec.frontend");
  });
});

describe("an environment with two components of a monorepo", () => {
  const follows = { branch: "main", follow: true };
  const spec: EnvironmentSpec = {
    backend: { repository: "shop-api", ...follows },
    frontend: { repository: "shop-web", ...follows },
  };
  const resolved = { resolved: { branch: "main", commit: a } };
  const status = { sources: { backend: resolved, frontend: resolved } };

  test("moves by one write when its branch is pushed", async () => {
    const world = monorepo();
    world.put(environmentFixture({ metadata: { name: "shop" }, spec, status }));
    const decided = await world.decide(
      event(world, { type: "push", push: { branch: "main", commit: b, deleted: false } }),
    );
    expect(decided.map(({ decision }) => decision)).toEqual([
      expect.objectContaining({ do: "update", annotations: { [RECONCILE_ANNOTATION]: expect.any(String) } }),
    ]);
  });

  test("records a pipeline for both components by one write", async () => {
    const world = monorepo();
    world.put(environmentFixture({ metadata: { name: "shop" }, spec, status }));
    const decided = await world.decide(run(world));
    expect(decided).toHaveLength(1);
    const pipelines = [expect.objectContaining({ id: 7, commit: a, status: "success" })];
    const recorded = { backend: { ...spec.backend, pipelines }, frontend: { ...spec.frontend, pipelines } };
    expect(decided[0]?.decision).toMatchObject({ do: "update", spec: recorded });
  });

  test("is deleted once, whatever else an event means for its other component", async () => {
    const world = monorepo({}, { pipeline: { onCanceled: "any" } });
    const trigger = { kind: "pipeline", provider: "", repository: "shop-api" } as const;
    world.put(environmentFixture({ metadata: { name: "shop" }, spec: { ...spec, trigger }, status }));
    const at = new Date(Date.parse(CREATED) + 1_000).toISOString();
    const decided = await world.decide(run(world, { status: "canceled", at }));
    expect(decided.map(({ decision }) => decision.do)).toEqual(["delete"]);
  });

  test("is made by a pipeline with both components on the branch", async () => {
    const world = monorepo({}, { pipeline: { createOnSuccess: false } });
    world.branchHeads.push("shop-api", "main", a);
    await world.settle(world.claim(run(world).spec.event));
    const [made] = world.living;
    expect(made?.spec).toMatchObject({ backend: spec.backend, frontend: spec.frontend });
  });
});

test.each<[string, Partial<RepositorySpec>, Partial<RepositorySpec>, boolean]>([
  ["one name, in any case", { fullName: "Shop/Shop" }, { fullName: "shop/shop" }, true],
  ["another name", { fullName: "shop/shop" }, { fullName: "shop/other" }, false],
  ["another host", { fullName: "shop/shop", host: "lab" }, { fullName: "shop/shop" }, false],
  ["one id under two names", { fullName: "shop/old", hostId: "7" }, { fullName: "shop/new", hostId: "7" }, true],
  ["two ids under one name", { fullName: "shop/shop", hostId: "7" }, { fullName: "shop/shop", hostId: "8" }, false],
  ["an id beside none", { fullName: "shop/shop", hostId: "7" }, { fullName: "shop/shop" }, true],
])("two Repositories are one repository by %s", (_by, one, other, expected) => {
  expect(isOneRepository(repositoryFixture("one", one), repositoryFixture("other", other))).toBe(expected);
});
