import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { secretEntryId } from "../../../crds/names.ts";
import { eachOf } from "../../../operator/kit/time/each-of.ts";
import { tokenBucket } from "../../../operator/kit/time/rate-limits.ts";
import type { SecretManager } from "../../../operator/ports/secret-manager.ts";
import {
  type GoogleSecretManagerServer,
  googleManager,
  shareInGoogle,
  startGoogleSecretManager,
} from "../../support/doubles/google-secret-manager.ts";
import { TestClock } from "../../support/doubles/test-clock.ts";
import { generatedRequests, newOwner, noOwner, requested, revealed } from "../suites/secret-manager/scene.ts";
import { secretManagerSuite } from "../suites/secret-manager.suite.ts";

secretManagerSuite("Google", async () => {
  const server = await startGoogleSecretManager();
  const managers = [googleManager(server), googleManager(server)] as const;
  return {
    managers,
    share: ({ id, labels, values }) => shareInGoogle(server, { id, labels, values }),
    idOf: secretEntryId,
    async stop() {
      await Promise.all(managers.map((manager) => manager.close()));
      await server.stop();
    },
  };
});

describe("Google Secret Manager", () => {
  let server: GoogleSecretManagerServer;
  let manager: SecretManager;
  let other: SecretManager;
  beforeAll(async () => {
    server = await startGoogleSecretManager();
    [manager, other] = [googleManager(server), googleManager(server)];
  });
  afterEach(() => server.intercept(undefined));
  afterAll(async () => {
    await Promise.all([manager.close(), other.close()]);
    await server.stop();
  });

  test("calls an entry by name, UID and variable, and says whose it is", async () => {
    const owner = { name: "shop-pr-42", uid: "1a2b3c4d-0000-4000-8000-000000000001" };
    await manager.ensure(owner, generatedRequests("DATABASE_PASSWORD").requests);
    expect(server.entry("shop-pr-42-1a2b3c4d-DATABASE_PASSWORD")).toMatchObject({
      labels: {
        "managed-by": "ephemeral-environments",
        installation: "this-cluster",
        environment: "shop-pr-42",
        "environment-uid": owner.uid,
      },
      annotations: { "environment-uid": owner.uid, environment: "shop-pr-42", variable: "DATABASE_PASSWORD" },
      replication: { automatic: {} },
    });
  });

  test("keeps values in the regions that are set", async () => {
    const regional = googleManager(server, { locations: ["europe-west3", "europe-west4"] });
    const owner = newOwner();
    await regional.ensure(owner, generatedRequests("A").requests);
    await regional.close();
    expect(server.held(owner, "A")?.replication).toMatchObject({
      userManaged: { replicas: [{ location: "europe-west3" }, { location: "europe-west4" }] },
    });
  });

  test.each(["", "a/versions/1", "../../other/secrets/x", "a?b=c", "a".repeat(256)])(
    "asks Google nothing about '%s', which no secret can be called",
    async (id) => {
      const before = server.calls.length;
      expect(await manager.shared(id)).toBeUndefined();
      expect(await manager.read(id, 1)).toBeUndefined();
      expect(server.calls.length).toBe(before);
    },
  );

  test.each([1, "latest"] as const)(
    "reads version %s of what is shared by one access, and by no look",
    async (version) => {
      const id = `shared-${randomUUID()}`;
      await shareInGoogle(server, { id, labels: {}, values: ["one"] });
      const before = server.calls.length;
      expect((await manager.read(id, version))?.value.reveal()).toBe("one");
      expect(server.calls.slice(before)).toEqual(["accessSecretVersion"]);
    },
  );

  test("takes two writes a new variable, and none for one that is there", async () => {
    const writes = () => server.calls.filter((method) => /^(create|add|update|delete)/.test(method)).length;
    const owner = newOwner();
    const before = writes();
    await manager.ensure(owner, generatedRequests("A", "B").requests);
    expect(writes() - before).toBe(4);
    await other.ensure(owner, generatedRequests("A", "B").requests);
    expect(writes() - before).toBe(4);
  });

  test("reads all pages of a long list", async () => {
    const owner = newOwner();
    await manager.ensure(owner, generatedRequests("A", "B", "C", "D", "E").requests);
    server.intercept((method, request, next) => {
      if (method === "listSecrets") request.pageSize = 2;
      return next();
    });
    expect((await manager.owners(noOwner)).filter(({ uid }) => uid === owner.uid)).toHaveLength(1);
    await manager.remove(owner, []);
    expect(["A", "B", "C", "D", "E"].filter((variable) => server.held(owner, variable) !== undefined)).toEqual([]);
  });

  test("reports owners of this installation alone", async () => {
    const neighbour = googleManager(server, { installation: "other-cluster" });
    const owner = newOwner();
    await neighbour.ensure(owner, generatedRequests("A").requests);
    const uids = async (asking: SecretManager) => (await asking.owners(noOwner)).map(({ uid }) => uid);
    expect(await uids(neighbour)).toEqual([owner.uid]);
    expect(await uids(manager)).not.toContain(owner.uid);
    await neighbour.close();
  });

  test("never has more than eight calls for one environment on their way", async () => {
    let most = 0;
    let now = 0;
    server.intercept(async (_called, _request, next) => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
      return next();
    });
    await manager.ensure(
      newOwner(),
      generatedRequests(...Array.from({ length: 50 }, (_, index) => `V${index}`)).requests,
    );
    expect(most).toBeLessThanOrEqual(8);
    expect(most).toBeGreaterThan(1);
  });

  test("looks at nothing of owners that are known, and once at what it finds of others", async () => {
    const fresh = googleManager(server);
    const [known, unknown] = [newOwner(), newOwner()];
    await manager.ensure(known, generatedRequests("A").requests);
    await manager.ensure(unknown, generatedRequests("A", "B", "C").requests);
    const looks = async () => {
      const before = server.calls.length;
      expect(await fresh.owners((uid) => uid !== unknown.uid)).toMatchObject([unknown]);
      return server.calls.slice(before);
    };
    expect(await looks()).toEqual(["listSecrets", "getSecret"]);
    expect(await looks()).toEqual(["listSecrets"]);
    await fresh.close();
  });

  test("goes on later when more is listed than it may look at now", async () => {
    const crowded = await startGoogleSecretManager();
    const [maker, finder] = [googleManager(crowded), googleManager(crowded)];
    const owners = Array.from({ length: 310 }, () => newOwner());
    await eachOf(16, owners, (owner) => maker.ensure(owner, requested("A", 1, "a")));
    await expect(finder.owners(noOwner)).rejects.toThrow("lists too much");
    expect(crowded.calls.filter((method) => method === "getSecret").length).toBeLessThanOrEqual(310 + 300);
    expect(await finder.owners(noOwner)).toHaveLength(310);
    await Promise.all([maker.close(), finder.close()]);
    await crowded.stop();
  }, 30_000);

  test("writes nothing while this process does not lead, and says so; what it only reads it reads", async () => {
    let isLeading = true;
    const follower = googleManager(server, { mayWrite: () => isLeading });
    const owner = newOwner();
    await follower.ensure(owner, requested("A", 1, "a1"));
    isLeading = false;
    const before = structuredClone(server.held(owner, "A"));
    await expect(follower.ensure(owner, requested("A", 2, "a2"))).rejects.toThrow("does not lead");
    await expect(follower.remove(owner, ["A"])).rejects.toThrow("does not lead");
    expect(revealed(await follower.ensure(owner, requested("A", 1)))).toEqual({ A: "a1" });
    expect(server.held(owner, "A")).toEqual(before);
    await follower.close();
  });

  test("counts no write that is never sent", async () => {
    let isAbsent = true;
    const frugal = googleManager(server, {
      budget: tokenBucket(new TestClock(), 1),
      connect: async () => {
        if (isAbsent) throw new Error("no credentials");
        return server.connect();
      },
    });
    const owner = newOwner();
    for (let time = 0; time < 20; time++) await expect(frugal.ensure(owner, requested("A", 1, "a"))).rejects.toThrow();
    isAbsent = false;
    expect((await frugal.ensure(owner, generatedRequests("A", "B", "C", "D", "E", "F").requests)).size).toBe(6);
    await frugal.close();
  });

  test("stops writing when its share of the quota is used up, and ends what it began later", async () => {
    const clock = new TestClock();
    const frugal = googleManager(server, { budget: tokenBucket(clock, 1) });
    const owner = newOwner();
    const request = generatedRequests(...Array.from({ length: 10 }, (_, index) => `V${index}`));
    const before = server.calls.length;
    await expect(frugal.ensure(owner, request.requests)).rejects.toThrow("used up");
    const writes = () => server.calls.slice(before).filter((method) => /^(create|add)/.test(method)).length;
    expect(writes()).toBe(12);
    expect(await frugal.holdsAny(owner, [])).toBe(true);
    clock.advance(8_000);
    const stored = await frugal.ensure(owner, request.requests);
    expect(stored.size).toBe(10);
    expect(writes()).toBe(20);
    await frugal.close();
  });

  test("more next versions than Google lets be named push the oldest out", async () => {
    const owner = newOwner();
    for (let version = 1; version <= 53; version++) await manager.ensure(owner, requested("A", version, `a${version}`));
    expect(Object.keys(server.held(owner, "A")?.versionAliases ?? {})).toHaveLength(50);
    expect(revealed(await other.ensure(owner, requested("A", 53)))).toEqual({ A: "a53" });
    expect(revealed(await other.ensure(owner, requested("A", 52)))).toEqual({ A: "a52" });
    expect(await other.ensure(owner, requested("A", 2))).toEqual(new Map());
  });

  test("connects when it is needed first, and once", async () => {
    let connections = 0;
    const lazy = googleManager(server, {
      connect: () => {
        connections += 1;
        return server.connect();
      },
    });
    expect(connections).toBe(0);
    await Promise.all([lazy.holdsAny(newOwner(), []), lazy.holdsAny(newOwner(), [])]);
    expect(connections).toBe(1);
    await lazy.close();
  });
});
