import { describe, expect, test } from "@jest/globals";
import { TEARDOWN_STEPS } from "../../../../../../operator/controllers/environment/deletion/teardown.ts";
import { minutesLater } from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { HOLD, type Scene, scene, shop } from "./teardown-scene.ts";

describe("a forced step", () => {
  const wait = ["gone", "gone", "gone", "gone", "waiting", "pending", "pending"];

  test.each<{ name: string; force: string; after: number; make?: (world: Scene) => unknown; states: string[] }>([
    {
      name: "is gone past when it is stuck",
      force: "namespace",
      after: 5,
      states: ["gone", "gone", "gone", "gone", "forced", "gone", "gone"],
    },
    { name: "is none before it is stuck", force: "namespace", after: 4, states: wait },
    { name: "is no other one", force: "application", after: 5, states: wait },
    { name: "is none by an unknown name", force: "everything", after: 5, states: wait },
    {
      name: "is none while one before it is waited for",
      make: ({ losesDeployer }) => losesDeployer(),
      force: "namespace",
      after: 5,
      states: ["gone", "waiting", "pending", "pending", "pending", "pending", "pending"],
    },
    {
      name: "may be one that can't be asked",
      make: ({ secretManager, holdNamespace }) => [secretManager.setReachable(false), holdNamespace()],
      force: "secrets",
      after: 5,
      states: ["gone", "gone", "gone", "forced", "gone", "gone", "gone"],
    },
  ])("$name", async ({ force, after, make, states }) => {
    const world = await scene();
    world.holdNamespace(HOLD);
    make?.(world);
    world.force(force);
    await world.pass();
    expect((await world.pass({ after })).states).toEqual(states);
  });

  test("stays forced when another one is named, and each is waited for in its own time", async () => {
    const world = await scene();
    world.losesDeployer();
    world.holdNamespace(HOLD);
    world.force("application");
    await world.pass();
    const first = await world.pass({ after: 60 });
    expect(first.states).toEqual(["gone", "forced", "forced", "gone", "waiting", "pending", "pending"]);
    expect(first.blockers).toEqual([]);
    world.force("namespace");
    expect((await world.pass({ after: 4 })).states).toEqual(first.states);
    const last = await world.pass({ after: 1 });
    expect(last.states).toEqual(["gone", "forced", "forced", "gone", "forced", "gone", "gone"]);
    const held = `Namespace 'env-shop' is being deleted, blocked by ${HOLD}: a finalizer that is not removed yet`;
    expect(world.records.list()).toMatchObject([
      {
        forced: [
          { step: "application", left: expect.stringContaining("Argo CD's objects can't be written") },
          { step: "project", left: "kept for the application that is left" },
          { step: "namespace", left: held },
        ],
      },
    ]);
    world.losesDeployer(false);
    expect(await world.left(shop)).toEqual(["application", "project", "namespace"]);
    expect(last.steps[1]).toMatchObject({
      name: "application",
      state: "forced",
      goneAt: minutesLater(60).toISOString(),
    });
  });

  test("stays forced although the record takes several reconciles", async () => {
    const world = await scene();
    world.holdNamespace(HOLD);
    world.records.fail(new Error("full"));
    world.force("namespace");
    await world.pass();
    expect((await world.pass({ after: 5 })).states.slice(4)).toEqual(["forced", "gone", "waiting"]);
    world.records.fail(undefined);
    expect((await world.pass()).states.slice(4)).toEqual(["forced", "gone", "gone"]);
  });
});

test("the steps that may be named", () => {
  expect(TEARDOWN_STEPS).toEqual(["volumes", "application", "project", "secrets", "namespace", "feedback", "record"]);
});
