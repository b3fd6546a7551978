import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { eventKind } from "../../../operator/kit/client/kinds.ts";
import type { RequestInterceptor } from "../../../operator/kit/client/request.ts";
import { type Disturb, type Play, prepareScenes, SCENE_WORLD, under } from "../../support/faults/fault-scenes.ts";
import { createFaultWorld, type FaultWorld, faultSpec } from "../../support/faults/fault-world.ts";
import { CONVERGENCE_MS, leaks } from "../../support/faults/invariants.ts";
import { portInterceptor } from "../../support/faults/port-interceptor.ts";
import { clockAhead, serverClockAhead } from "../../support/faults/skewed-clock.ts";
import { staleLists, troubledWatches, type WatchTrouble } from "../../support/faults/watch-interceptors.ts";
import { until } from "../../support/fixtures/until.ts";

let world: FaultWorld;
let play: Play;
beforeAll(async () => {
  world = await createFaultWorld(SCENE_WORLD);
  play = await prepareScenes(world);
}, 300_000);
afterAll(() => world.stop(), 60_000);

const moment = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const nothing: Disturb = async () => undefined;

describe("watches", () => {
  test.each<WatchTrouble>(["cut", "expire", "hold", "repeat", "reorder"])(
    "events: %s",
    async (trouble) => {
      const watches = troubledWatches();
      const disturb = async () => {
        watches.set(trouble);
        // Held events count when they are released.
        if (trouble !== "hold") await until(() => watches.met > 0, { what: "an event", deadlineMs: 10_000 });
        await moment(3_000);
        watches.set("none");
      };
      await under(world, { onRequest: watches.interceptor }, () => play(`watch-${trouble}`, disturb));
    },
    120_000,
  );

  test("stale lists after a 410: nothing that is gone is acted on", async () => {
    const watches = troubledWatches();
    const lists = staleLists();
    const interceptor: RequestInterceptor = (request, next) =>
      watches.interceptor(request, () => lists.interceptor(request, next));
    const disturb = async () => {
      lists.goBack();
      watches.set("expire");
      await until(() => lists.served > 0, { what: "a stale list", deadlineMs: 10_000 });
      watches.set("none");
    };
    // No server answers such a list of the newest with an old state: readers see the fault itself, and the reaction counts.
    await under(world, { onRequest: interceptor }, () => play("stale", disturb, "I14"));
  }, 120_000);
});

describe("operators", () => {
  test("two act at once", async () => {
    const { settings, repositoryHost } = world;
    const second = await world.world.startOperator({
      settings,
      onPorts: (context) => ({ ...context, repositoryHost }),
    });
    try {
      await play("two", nothing);
    } finally {
      await second.stop();
    }
  }, 120_000);

  test.each([
    { own: 2, server: 0 },
    { own: -2, server: 0 },
    { own: 0, server: 2 },
  ])(
    "its own clock is $own h ahead, the server's $server h: nothing goes early",
    async ({ own, server }) => {
      const title = `clock-${own + 2}-${server}`;
      const clocks = { clock: clockAhead(own, world.clock), serverClock: serverClockAhead(server) };
      const short = `${title}-short`;
      world.field.arm(short);
      await under(world, clocks, async () => {
        await world.create(short, { ...faultSpec(short), ttlHours: 1 });
        await play(title, nothing);
        await world.world.reconcile(short);
      });
      expect(world.observer.environment(short)?.metadata.deletionTimestamp).toBeUndefined();
    },
    120_000,
  );

  test("no Event is written, and each is answered late: nothing waits for them", async () => {
    let [met, isOver] = [0, false];
    const interceptor: RequestInterceptor = async (request, next) => {
      if (request.type !== eventKind) return next();
      met += 1;
      if (!isOver) await moment(5_000);
      return { status: 403, headers: {}, body: { kind: "Status", status: "Failure", code: 403, reason: "Forbidden" } };
    };
    await under(world, { onRequest: interceptor }, async () => {
      await play("unheard", nothing);
      isOver = true;
    });
    expect(met).toBeGreaterThan(0);
  }, 120_000);

  test("one environment always fails and one is always slow: all others come to their end", async () => {
    const onPorts = portInterceptor((call, next) => {
      if (call.about === "poisonous") throw new TypeError("something unforeseen");
      return call.about === "sluggish" ? moment(5_000).then(next) : next();
    });
    const broken = ["poisonous", "sluggish"];
    for (const name of broken) world.field.arm(name);
    await under(world, { onPorts }, async () => {
      for (const name of broken) await world.create(name);
      await play("bystander", nothing);
      expect(world.observer.environment("poisonous")?.status?.phase).toBe("creating");
    });
    const isReady = (name: string) => world.observer.environment(name)?.status?.phase === "ready";
    await until(() => broken.every(isReady), { what: "the healed ones", deadlineMs: CONVERGENCE_MS });
  }, 120_000);
});

test("nothing readable holds a secret", () => {
  expect(leaks(world.observer.secretValues, [world.log()])).toEqual([]);
});
