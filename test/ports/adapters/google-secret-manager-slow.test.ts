import { SecretManagerServiceClient } from "@google-cloud/secret-manager";
import { describe, expect, test } from "@jest/globals";
import { SecretManagerUnavailable } from "../../../operator/ports/secret-manager.ts";
import { googleManager } from "../../support/doubles/google-secret-manager.ts";
import { codes, grpcError } from "../../support/doubles/google-secret-store.ts";
import { TestClock } from "../../support/doubles/test-clock.ts";
import { generatedRequests, newOwner, requested, revealed } from "../suites/secret-manager/scene.ts";
import { failureOf, googleSecretManagers } from "./google-secret-managers.ts";

const world = googleSecretManagers();

describe("Google Secret Manager, when something goes wrong", () => {
  test("asks once, even where Google's client would try again, and never waits for an answer without end", async () => {
    const owner = newOwner();
    await world.manager.ensure(owner, generatedRequests("A").requests);
    const [calls, deadlines] = [world.server.calls.length, world.server.deadlines.length];
    world.server.intercept((called, _request, next) => {
      if (called === "accessSecretVersion") throw grpcError(codes.UNAVAILABLE, "away");
      return next();
    });
    expect(await failureOf(world.manager.ensure(owner, requested("A", 1)))).toBeInstanceOf(SecretManagerUnavailable);
    expect(world.server.calls.slice(calls)).toEqual(["getSecret", "accessSecretVersion"]);
    for (const milliseconds of world.server.deadlines.slice(deadlines)) {
      expect(milliseconds).toBeGreaterThan(5_000);
      expect(milliseconds).toBeLessThanOrEqual(10_000);
    }
  });

  test("delays one caller at a time while Google does not answer, and none once it does", async () => {
    const owner = newOwner();
    world.server.intercept(() => {
      throw grpcError(codes.DEADLINE_EXCEEDED, "too late");
    });
    const first = await failureOf(world.manager.holdsAny(owner, []));
    const released = Promise.withResolvers<void>();
    world.server.intercept(async (_called, _request, next) => {
      await released.promise;
      return next();
    });
    const looking = world.manager.holdsAny(owner, []);
    const before = world.server.calls.length;
    const others = await Promise.all([1, 2, 3].map(() => failureOf(world.manager.holdsAny(owner, []))));
    // The same message, or a condition with it would change with every reconcile.
    expect(others.map(String)).toEqual(Array(3).fill(String(first)));
    expect(await world.manager.ensure(owner, [])).toEqual(new Map());
    released.resolve();
    expect(await looking).toBe(false);
    expect(world.server.calls.length - before).toBeLessThanOrEqual(1);
    expect(await Promise.all([1, 2, 3].map(() => world.manager.holdsAny(owner, [])))).toEqual([false, false, false]);
  });

  describe("when Google answers, but slowly", () => {
    const slowed = (seconds: number) => {
      const clock = new TestClock();
      world.server.intercept((_called, _request, next) => {
        clock.advance(seconds * 1_000);
        return next();
      });
      return googleManager(world.server, { clock });
    };

    test("ends what it does after ten seconds in all, and goes on from there in the next pass", async () => {
      const owner = newOwner();
      const patient = slowed(6);
      const [calls, deadlines] = [world.server.calls.length, world.server.deadlines.length];
      // Others get the same error, and must not read in its place.
      expect(await failureOf(patient.ensure(owner, requested("A", 1, "a")))).toMatchObject({
        name: "SecretManagerUnavailable",
        message: "Google Secret Manager: no answer in time",
      });
      expect(world.server.calls.slice(calls)).toEqual(["getSecret", "createSecret"]);
      expect(world.server.deadlines.at(deadlines + 1)).toBeLessThanOrEqual(4_000);
      world.server.intercept(undefined);
      expect(revealed(await patient.ensure(owner, requested("A", 1, "a")))).toEqual({ A: "a" });
      await patient.close();
    });

    test("holds up one caller at a time from then on, until it is quick enough again", async () => {
      const owner = newOwner();
      const patient = slowed(6);
      await failureOf(patient.ensure(owner, requested("A", 1, "a")));
      world.server.intercept(undefined);
      const all = await Promise.all([1, 2, 3].map(() => failureOf(patient.ensure(owner, requested("A", 1, "a")))));
      expect(all.filter((failure) => failure === undefined)).toHaveLength(1);
      const again = await Promise.all([1, 2, 3].map(() => failureOf(patient.ensure(owner, requested("A", 1, "a")))));
      expect(again).toEqual([undefined, undefined, undefined]);
      await patient.close();
    });

    test("may take its time to list whose entries there are", async () => {
      const owner = newOwner();
      await world.manager.ensure(owner, requested("A", 1, "a"));
      const patient = slowed(11);
      expect(await patient.owners((uid) => uid !== owner.uid)).toHaveLength(1);
      await patient.close();
    });
  });

  test("works once there are credentials, although it was requested before", async () => {
    let connections = 0;
    const early = googleManager(world.server, {
      connect: async () => {
        connections += 1;
        if (connections > 1) return world.server.connect();
        return clientWithoutCredentials();
      },
    });
    const owner = newOwner();
    expect(await failureOf(early.holdsAny(owner, []))).toMatchObject({
      name: "SecretManagerUnavailable",
      message: expect.stringContaining("are there Google credentials"),
    });
    expect(await early.holdsAny(owner, [])).toBe(false);
    expect(await early.holdsAny(owner, [])).toBe(false);
    expect(connections).toBe(2);
    await early.close();
  });

  test("ends quietly although it never found credentials", async () => {
    const without = googleManager(world.server, { connect: async () => clientWithoutCredentials() });
    await failureOf(without.holdsAny(newOwner(), []));
    await without.close();
    await without.close();
  });
});

/** Google's own client, which only fails at its first call. */
function clientWithoutCredentials() {
  const auth = { getClient: () => Promise.reject(new Error("Could not load the default credentials")) };
  return new SecretManagerServiceClient({ projectId: "p", auth: auth as never });
}
