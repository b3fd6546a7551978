import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { completeInventory } from "../../support/environment-inventory.ts";
import { createWorld, type World } from "../../support/environment-world.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
}, 60_000);
afterAll(() => world.stop(), 60_000);

describe("an environment's life", () => {
  test("it becomes ready with all that belongs to it, and is gone without a trace when deleted", async () => {
    const { stop } = await world.startOperator();
    const made = await world.create("life-cycle");
    const ready = await world.expectPhase("life-cycle", "ready");
    expect([...(await world.inventory(made)).keys()].sort()).toEqual(completeInventory(made));
    expect(ready.status?.urls).toEqual({ backend: "https://life-cycle--api.env.localhost:18443" });

    await world.delete(made);
    await world.expectGone(made);
    await stop();
  }, 90_000);
});
