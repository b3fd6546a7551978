/** GitLab's pipelines for merged results: their commit is on no branch. */
import { describe, expect, test } from "@jest/globals";
import type { PipelineState, PullRequestState } from "../../../../../crds/webhooks/webhook-event.schema.ts";
import { commitOf, pullRequestState, shopApi, WebhookWorld } from "../../../../support/worlds/webhook-world.ts";

const [a, b, merge] = [commitOf("a"), commitOf("b"), commitOf("e")];
const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();

const ofMerge = (more: Partial<PipelineState> = {}): PipelineState => ({
  project: "shop/shop-api",
  id: 9,
  commit: merge,
  branch: "feature",
  event: "pull_request",
  pullRequest: 7,
  status: "success",
  createdAt: at(0),
  at: at(5),
  ...more,
});

function scene(head = a) {
  const host = { id: "lab", kind: "gitlab", apiUrl: "https://lab.test/api/v4" } as const;
  const repository = shopApi({ host: "lab", pullRequest: { enabled: true }, pipeline: {} });
  const world = new WebhookWorld({ repositories: [repository], settings: { hosts: [host] } });
  world.branchHeads.push("shop-api", "feature", head);
  const opened = (more: Partial<PullRequestState> = {}) =>
    world.arrive(pullRequestState({ updatedAt: at(0), headCommit: a, ...more }));
  const pipeline = async (more: Partial<PipelineState> = {}) =>
    (await world.settle(world.claim({ type: "pipeline", pipeline: ofMerge(more) }))).decision;
  const recorded = () => world.living.map(({ spec }) => spec.backend.pipelines ?? []);
  return { world, opened, pipeline, recorded };
}

describe("a pipeline of a merge request's merge", () => {
  test.each([
    ["running", "PipelineRunning"],
    ["failed", "PipelineFailed"],
    ["success", "PipelineSucceeded"],
  ] as const)("speaks for the source's head: %s", async (status, reason) => {
    const { opened, pipeline, recorded } = scene();
    await opened();
    expect(await pipeline({ status })).toMatchObject({ do: "update", reason });
    expect(recorded()).toEqual([[expect.objectContaining({ id: 9, commit: a, status })]]);
  });

  test("that came before the merge request is taken along", async () => {
    const { opened, pipeline, recorded } = scene();
    await pipeline({ status: "running" });
    await opened();
    expect(recorded()).toEqual([[expect.objectContaining({ id: 9, commit: a, status: "running" })]]);
  });

  test("of a push whose event comes later says nothing of the former head, and is taken along with the new one", async () => {
    const { world, opened, pipeline, recorded } = scene();
    await opened();
    await pipeline();
    world.branchHeads.push("shop-api", "feature", b);
    const next = { id: 10, commit: commitOf("f"), createdAt: at(10), status: "failed" } as const;
    expect(await pipeline(next)).toMatchObject({ do: "nothing" });
    expect(recorded()).toEqual([[expect.objectContaining({ id: 9, status: "success" })]]);
    await opened({ action: "updated", headCommit: b, updatedAt: at(10) });
    expect(recorded()).toEqual([[expect.objectContaining({ id: 10, commit: b, status: "failed" })]]);
  });

  test("of a former head changes nothing", async () => {
    const { world, opened, pipeline, recorded } = scene();
    await opened();
    world.branchHeads.push("shop-api", "feature", b);
    await opened({ action: "updated", headCommit: b, updatedAt: at(10) });
    expect(await pipeline()).toMatchObject({ do: "nothing" });
    expect(recorded()).toEqual([[]]);
  });

  test("is not that of another merge request", async () => {
    const { opened, pipeline, recorded } = scene();
    await opened();
    expect(await pipeline({ pullRequest: 8 })).toMatchObject({ do: "nothing" });
    expect(recorded()).toEqual([[]]);
  });

  test("makes no environment", async () => {
    const { world, opened, pipeline } = scene();
    await opened({ state: "closed", action: "closed" });
    expect(await pipeline()).toMatchObject({ do: "nothing", reason: "OfPullRequest" });
    expect(world.living).toEqual([]);
  });

  test("waits while the host can't be asked", async () => {
    const { world, opened, pipeline } = scene();
    await opened();
    world.branchHeads.setReachable(false);
    await expect(pipeline()).rejects.toThrow();
  });
});

test("a pipeline of a merge request's own head is that commit's", async () => {
  const { opened, pipeline, recorded } = scene(b);
  await opened();
  expect(await pipeline({ commit: a, status: "failed" })).toMatchObject({ do: "update", reason: "PipelineFailed" });
  expect(recorded()).toEqual([[expect.objectContaining({ commit: a, status: "failed" })]]);
});
