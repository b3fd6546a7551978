import { describe, expect, test } from "@jest/globals";
import { MINUTE_MS } from "../../../../../../crds/durations.ts";
import { KubeError } from "../../../../../../operator/kit/client/errors.ts";
import { namespaceKind, roleBindingKind } from "../../../../../../operator/kit/client/kinds.ts";
import { configMaps } from "../../../../../support/fixtures/config-maps.ts";
import {
  BALANCER,
  CASCADE,
  finalizersOf,
  held,
  KEPT_RIGHTS,
  put,
  putPod,
  putUndeleted,
  rightsOf,
  serviceKind,
} from "./take-over-scene.ts";
import { HOLD, type Scene, scene } from "./teardown-scene.ts";

describe("a forced step 'namespace'", () => {
  test("ends after five minutes although a kind can't be listed", async () => {
    const world = await held();
    await world.pass();
    put(world, serviceKind, "public", [BALANCER]);
    await world.pass({ after: 1 });
    world.namespaceContents.overload("Service");
    world.force("namespace");
    expect((await world.pass({ after: 4 })).states[4]).toBe("waiting");
    expect((await world.pass({ after: 1 })).states[4]).toBe("forced");
    expect(rightsOf(world)).toEqual([]);
  });
  test("removes what frees something outside the cluster only with its end", async () => {
    const world = await held();
    await world.pass();
    put(world, serviceKind, "public", [BALANCER]);
    await world.pass({ after: 1 });
    world.namespaceContents.overload("ConfigMap");
    world.force("namespace");
    expect((await world.pass({ after: 1 })).states[4]).toBe("waiting");
    expect(finalizersOf(world, "public")).toEqual([BALANCER]);
    expect((await world.pass({ after: 4 })).states[4]).toBe("waiting");
    expect(finalizersOf(world, "public")).toEqual([BALANCER]);
    expect((await world.pass()).states[4]).toBe("forced");
    expect(finalizersOf(world, "public")).toBeUndefined();
  });

  test("does not wait for finalizers that have a longer time than stuck steps", async () => {
    const world = await scene({ deletion: { finalizerSeconds: 600 } });
    world.holdApplication(CASCADE);
    world.holdNamespace("kubernetes");
    await world.pass();
    put(world, configMaps, "held", [HOLD]);
    await world.pass({ after: 1 });
    await world.pass({ after: 6 });
    await world.pass();
    expect(finalizersOf(world, "held")).toEqual([HOLD]);
    world.force("namespace");
    expect((await world.pass()).states[4]).toBe("waiting");
    expect((await world.pass()).states[4]).toBe("forced");
    expect(finalizersOf(world, "held")).toBeUndefined();
    expect(rightsOf(world)).toEqual([]);
  });

  test("names the finalizers of what Kubernetes has not deleted yet, and removes them before the rights go", async () => {
    const world = await held();
    await world.pass();
    putPod(world);
    putUndeleted(world, configMaps, "held", [HOLD]);
    await world.pass({ after: 1 });
    world.force("namespace");
    expect((await world.pass({ after: 1 })).removals).toMatchObject([{ finalizer: HOLD }]);
    expect((await world.pass()).states[4]).toBe("forced");
    expect(finalizersOf(world, "held")).toEqual([]);
    expect(rightsOf(world)).toEqual([]);
  });
});

describe("a forced step 'namespace' that is stuck", () => {
  const AWAY = new KubeError({ status: 503, reason: "ServiceUnavailable" });

  /** A forced step shortly before it is stuck. */
  async function almostStuck(): Promise<Scene> {
    const world = await held();
    await world.pass();
    put(world, configMaps, "held", [HOLD]);
    await world.pass({ after: 1 });
    world.namespaceContents.overload("Service");
    world.force("namespace");
    expect((await world.pass({ after: 4.9 })).states[4]).toBe("waiting");
    return world;
  }

  test.each([
    ["ends the pods", (world: Scene) => Object.assign(world.namespaceContents, { endPods: async () => fail() })],
    ["lists what is left", (world: Scene) => Object.assign(world.namespaceContents, { list: async () => fail() })],
    ["deletes the namespace", (world: Scene) => world.cluster.fail(namespaceKind, AWAY)],
  ])("waits for the call that %s as long again, and gives the rights back although it fails", async (_, breakCall) => {
    const world = await almostStuck();
    breakCall(world);
    expect((await world.pass()).states[4]).toBe("waiting");
    expect(await world.pass({ after: 0.1 })).toMatchObject({
      blockers: [{ reason: "Retrying" }],
      recheckMs: 2_000,
    });
    expect((await world.pass({ after: 4.9 })).states[4]).toBe("waiting");
    expect(rightsOf(world)).toEqual(KEPT_RIGHTS);
    expect((await world.pass({ after: 0.1 })).states[4]).toBe("forced");
    expect(rightsOf(world)).toEqual([]);
  });

  test("removes what it named when a call that failed works again", async () => {
    const world = await almostStuck();
    const { list } = world.namespaceContents;
    world.namespaceContents.list = async () => fail();
    expect((await world.pass({ after: 0.1 })).states[4]).toBe("waiting");
    world.namespaceContents.list = list;
    expect((await world.pass()).states[4]).toBe("forced");
    expect(finalizersOf(world, "held")).toBeUndefined();
    expect(rightsOf(world)).toEqual([]);
  });

  test("does not wait for what is forbidden", async () => {
    const world = await almostStuck();
    world.namespaceContents.endPods = async () => {
      throw new KubeError({ status: 403, reason: "Forbidden" });
    };
    expect((await world.pass({ after: 0.1 })).states[4]).toBe("forced");
    expect(rightsOf(world)).toEqual([]);
  });

  test("is not stuck yet where the fifth minute ends during a call that fails", async () => {
    const world = await almostStuck();
    const { list } = world.namespaceContents;
    world.namespaceContents.list = async () => {
      world.clock.advance(0.2 * MINUTE_MS);
      return fail();
    };
    expect((await world.pass()).states[4]).toBe("waiting");
    expect(rightsOf(world)).toEqual(KEPT_RIGHTS);
    world.namespaceContents.list = list;
    expect((await world.pass()).states[4]).toBe("forced");
    expect(rightsOf(world)).toEqual([]);
  });

  test("ends although the rights can't be given back: garbage collection tries again", async () => {
    const world = await almostStuck();
    world.cluster.fail(roleBindingKind, AWAY);
    expect((await world.pass({ after: 0.1 })).states[4]).toBe("waiting");
    expect((await world.pass({ after: 5 })).states[4]).toBe("forced");
    expect(rightsOf(world)).toEqual(KEPT_RIGHTS);
  });

  const fail = (): never => {
    throw AWAY;
  };
});
