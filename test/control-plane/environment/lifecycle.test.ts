import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { environmentType } from "../../../operator/kinds.ts";
import { controlPlane } from "../../support/control-plane.ts";
import { createWorld, type World } from "../../support/environment-world.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld(controlPlane());
}, 60_000);
afterAll(() => world.stop(), 60_000);

describe("an environment's life", () => {
  test("it becomes ready with all that belongs to it, and is gone without a trace when deleted", async () => {
    const { stop } = await world.startOperator();
    const made = await world.create("life-cycle");
    const ready = await world.expectPhase("life-cycle", "ready");
    expect(await world.belongings(made)).toEqual([
      "EphemeralEnvironment/life-cycle",
      `store/life-cycle-${made.metadata.uid.slice(0, 8)}`,
      "Namespace/env-life-cycle",
      "Application/env-life-cycle",
      "AppProject/env-life-cycle",
      expect.stringMatching(/^Secret\//),
      expect.stringMatching(/^Secret\//),
    ]);
    expect(ready.status?.urls).toEqual({ backend: "https://life-cycle--api.env.localhost:18443" });

    await world.admin.delete(environmentType, { name: "life-cycle" });
    await world.expectGone(made);
    await stop();
  }, 90_000);
});
