import { describe, expect, test } from "@jest/globals";
import { commitOf, pullRequestState, shopApi, WebhookWorld } from "../../../../support/worlds/webhook-world.ts";

const tagged = (tagTemplate: string) =>
  new WebhookWorld({
    repositories: [shopApi({ image: { repository: "registry.test/shop-api", tagTemplate } })],
  });
const [first, second] = [commitOf("a"), commitOf("b")];
const [merge, nextMerge] = [commitOf("e"), commitOf("f")];
const merged = (world: WebhookWorld) => world.living.map(({ spec }) => spec.backend.mergeCommit);

describe("the commit that merges a pull request for a test", () => {
  test("comes with the environment, where the event says it", async () => {
    const world = tagged("{commit}");
    await world.arrive(pullRequestState({ mergeCommit: merge }));
    expect(merged(world)).toEqual([{ head: first, commit: merge }]);
  });

  test("comes later, where the tag needs it, and stays although the base moves", async () => {
    const world = tagged("sha-{mergeCommit:7}");
    await world.arrive(pullRequestState());
    expect(merged(world)).toEqual([undefined]);
    await world.arrive(pullRequestState({ action: "labeled", mergeCommit: merge }));
    expect(merged(world)).toEqual([{ head: first, commit: merge }]);
    const later = await world.arrive(pullRequestState({ action: "labeled", mergeCommit: nextMerge }));
    expect(later.decision).toMatchObject({ do: "nothing", reason: "UpToDate" });
    expect(merged(world)).toEqual([{ head: first, commit: merge }]);
  });

  test("is no update where the tag does not need it", async () => {
    const world = tagged("{commit}");
    await world.arrive(pullRequestState());
    const { decision } = await world.arrive(pullRequestState({ action: "labeled", mergeCommit: merge }));
    expect(decision).toMatchObject({ do: "nothing", reason: "UpToDate" });
  });

  test("is not that of the head before, which the event of a push may still name", async () => {
    const world = tagged("{mergeCommit}");
    await world.arrive(pullRequestState({ mergeCommit: merge }));
    await world.arrive(pullRequestState({ action: "synchronize", headCommit: second, mergeCommit: merge }));
    // The merge commit is valid only for its own head.
    expect(world.living.map(({ spec: { backend } }) => [backend.commit, backend.mergeCommit?.head])).toEqual([
      [second, first],
    ]);
    await world.arrive(pullRequestState({ action: "labeled", headCommit: second, mergeCommit: nextMerge }));
    expect(merged(world)).toEqual([{ head: second, commit: nextMerge }]);
  });
});
