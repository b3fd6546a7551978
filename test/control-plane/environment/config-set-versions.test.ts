import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { ConfigSet } from "../../../crds/config-set.ts";
import { MINUTE_MS } from "../../../crds/durations.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { revisionKind, type WireObject } from "../../../operator/kit/client/kinds.ts";
import { isWrite } from "../../../operator/kit/client/request.ts";
import { until } from "../../support/fixtures/until.ts";
import { createWorld, type World } from "../../support/worlds/environment-world.ts";
import { configure, level, revisionOf, using } from "./config-set-use.ts";

const namespace = "ephemeral-system";

let world: World;
beforeAll(async () => {
  world = await createWorld();
}, 180_000);
afterEach(() => world.abandonOperators());
afterAll(() => world.stop(), 60_000);

function findRevision(configSet: ConfigSet): Promise<WireObject | undefined> {
  return world.admin.find(revisionKind, { name: revisionOf(configSet), namespace });
}

describe("a version of a config set", () => {
  /** An operator whose API server's clock is `minutes` ahead for its decisions. */
  const later = (minutes: number) => ({
    serverClock: { now: async () => new Date(Date.now() + minutes * MINUTE_MS) },
  });

  test("is kept once for all environments, and costs nothing on later reconciles", async () => {
    const first = await configure(world, "shared", level("one"));
    const writes: string[] = [];
    const { stop } = await world.startOperator({
      onRequest: (request, next) => {
        if (isWrite(request.verb) && request.type?.kind === revisionKind.kind) writes.push(request.verb);
        return next();
      },
    });
    for (const name of ["user-1", "user-2"]) {
      await world.create(name, using("shared"));
      await world.expectPhase(name, "ready");
      await world.reconcile(name);
    }
    expect(writes).toEqual(["create"]);
    const kept = await findRevision(first);
    expect(kept).toMatchObject({ revision: 1, data: { spec: level("one") } });
    expect(kept?.metadata).not.toHaveProperty("ownerReferences");
    await stop();
  }, 60_000);

  test("comes back after a deletion, while the config set still is that version", async () => {
    const first = await configure(world, "repaired", level("one"));
    const { stop } = await world.startOperator();
    await world.create("repairer", using("repaired"));
    await world.expectPhase("repairer", "ready");
    await world.admin.delete(revisionKind, { name: revisionOf(first), namespace });
    await until(() => findRevision(first), { what: "the version being kept again", deadlineMs: 10_000 });
    await stop();
  }, 60_000);

  test("goes when it has been unused for long, and not before", async () => {
    const first = await configure(world, "swept", level("one"));
    const { stop } = await world.startOperator();
    const made = await world.create("last-user", using("swept"));
    await world.expectPhase("last-user", "ready");
    await world.create("stayer", using("swept"));
    await world.expectPhase("stayer", "ready");
    await stop();

    const sweeper = await world.startOperator(later(11));
    await world.delete(made);
    await world.expectGone(made);
    expect((await findRevision(first))?.metadata.annotations).toBeUndefined();
    const stayer = (await world.find("stayer")) as EphemeralEnvironment;
    await world.delete(stayer);
    await world.expectGone(stayer);
    const isNoted = async () => (await findRevision(first))?.metadata.annotations !== undefined;
    await until(isNoted, { what: "being noted as unused", deadlineMs: 10_000 });
    await sweeper.stop();

    const later22 = await world.startOperator(later(22));
    await until(async () => (await findRevision(first)) === undefined, { what: "being gone", deadlineMs: 10_000 });
    await later22.stop();
  }, 90_000);

  test("stays when it is used again after it was noted as unused", async () => {
    const first = await configure(world, "taken-up", level("one"));
    const { stop } = await world.startOperator(later(11));
    const made = await world.create("former-user", using("taken-up"));
    await world.expectPhase("former-user", "ready");
    await world.delete(made);
    await world.expectGone(made);
    const isNoted = async () => (await findRevision(first))?.metadata.annotations !== undefined;
    await until(isNoted, { what: "being noted as unused", deadlineMs: 10_000 });
    await world.create("new-user", using("taken-up"));
    await world.expectPhase("new-user", "ready");
    expect((await findRevision(first))?.metadata.annotations ?? {}).toEqual({});
    await stop();
    const sweeper = await world.startOperator(later(30));
    await world.reconcile("new-user");
    expect(await findRevision(first)).toBeDefined();
    await sweeper.stop();
  }, 90_000);
});
