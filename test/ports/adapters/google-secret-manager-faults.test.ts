import { inspect } from "node:util";
import { SecretManagerServiceClient } from "@google-cloud/secret-manager";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { secretEntryId } from "../../../crds/names.ts";
import { type SecretManager, SecretManagerUnavailable } from "../../../operator/ports/secret-manager.ts";
import {
  type GoogleSecretManagerServer,
  googleManager,
  shareInGoogle,
  startGoogleSecretManager,
} from "../../support/doubles/google-secret-manager.ts";
import { codes, grpcError } from "../../support/doubles/google-secret-store.ts";
import { TestClock } from "../../support/doubles/test-clock.ts";
import { asked, newOwner, nobody, revealed, wanted } from "../suites/secret-manager.suite.ts";

describe("Google Secret Manager, when something goes wrong", () => {
  let server: GoogleSecretManagerServer;
  let manager: SecretManager;
  let other: SecretManager;
  beforeAll(async () => {
    server = await startGoogleSecretManager();
    [manager, other] = [googleManager(server), googleManager(server)];
  });
  afterEach(() => server.seam(undefined));
  afterAll(async () => {
    await Promise.all([manager.close(), other.close()]);
    await server.stop();
  });

  const failureOf = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error);

  describe("a crash or a lost answer", () => {
    const writes = ["createSecret", "addSecretVersion"] as const;
    test.each(
      writes.flatMap((method) => [
        { method, when: "before" },
        { method, when: "after" },
      ]),
    )("$when $method leaves what the next pass completes, with one value", async ({ method, when }) => {
      const owner = newOwner();
      server.seam(async (called, _request, next) => {
        if (called !== method) return next();
        if (when === "after") next();
        throw grpcError(codes.UNAVAILABLE, "gone");
      });
      const request = wanted("A");
      expect(await failureOf(manager.ensure(owner, request.requests))).toBeInstanceOf(SecretManagerUnavailable);
      server.seam(undefined);
      const stored = revealed(await other.ensure(owner, request.requests));
      expect(server.held(owner, "A")?.versions.map(({ data }) => data.toString())).toEqual([stored.A]);
      expect(revealed(await manager.ensure(owner, wanted("A").requests))).toEqual(stored);
      // A value that reached the manager is the one that stays.
      expect(request.generated()).toHaveLength(method === "addSecretVersion" && when === "before" ? 2 : 1);
    });

    test("between a next version and its alias leaves a number that is never answered", async () => {
      const owner = newOwner();
      await manager.ensure(owner, asked("A", 1, "a1"));
      server.seam((called, _request, next) => {
        if (called === "updateSecret") throw grpcError(codes.DEADLINE_EXCEEDED, "too late");
        return next();
      });
      expect(await failureOf(manager.ensure(owner, asked("A", 2, "lost")))).toBeInstanceOf(SecretManagerUnavailable);
      server.seam(undefined);
      expect(await other.ensure(owner, asked("A", 2))).toEqual(new Map());
      expect(revealed(await other.ensure(owner, asked("A", 2, "kept")))).toEqual({ A: "kept" });
    });

    test("after the alias was set keeps the version", async () => {
      const owner = newOwner();
      await manager.ensure(owner, asked("A", 1, "a1"));
      server.seam((called, _request, next) => {
        const answer = next();
        if (called === "updateSecret") throw grpcError(codes.UNAVAILABLE, "gone");
        return answer;
      });
      expect(await failureOf(manager.ensure(owner, asked("A", 2, "a2")))).toBeInstanceOf(SecretManagerUnavailable);
      server.seam(undefined);
      expect(revealed(await other.ensure(owner, asked("A", 2, "other")))).toEqual({ A: "a2" });
    });

    test("after a deletion lets the next one end", async () => {
      const owner = newOwner();
      await manager.ensure(owner, wanted("A", "B").requests);
      let lost = 0;
      server.seam((called, _request, next) => {
        const answer = next();
        if (called === "deleteSecret" && ++lost === 1) throw grpcError(codes.UNAVAILABLE, "gone");
        return answer;
      });
      expect(await failureOf(manager.remove(owner, []))).toBeInstanceOf(SecretManagerUnavailable);
      await manager.remove(owner, []);
      expect(await manager.holdsAny(owner, [])).toBe(false);
    });
  });

  describe("lists that lag behind", () => {
    afterEach(() => server.store.lag("nothing"));
    const writes = (from: number) =>
      server.calls.slice(from).filter((method) => /^(create|add|update|delete)/.test(method));

    test("make no second value", async () => {
      const owner = newOwner();
      server.store.lag("lists");
      const stored = revealed(await manager.ensure(owner, wanted("A").requests));
      await manager.ensure(owner, asked("A", 2, "a2"));
      expect(revealed(await other.ensure(owner, wanted("A").requests))).toEqual(stored);
      expect(revealed(await other.ensure(owner, asked("A", 2, "other")))).toEqual({ A: "a2" });
    });

    test("make no second version, also while a look shows old aliases", async () => {
      const owner = newOwner();
      await manager.ensure(owner, asked("A", 1, "a1"));
      server.store.lag("lists and looks");
      await manager.ensure(owner, asked("A", 2, "a2"));
      expect(await failureOf(other.ensure(owner, asked("A", 2, "other")))).toBeInstanceOf(SecretManagerUnavailable);
      server.store.lag("nothing");
      expect(revealed(await other.ensure(owner, asked("A", 2, "other")))).toEqual({ A: "a2" });
    });

    test.each(["lists", "lists and looks"] as const)("hide no provided value: %s", async (what) => {
      const owner = newOwner();
      server.store.lag(what);
      await other.ensure(owner, asked("P", 1, "given"));
      expect(revealed(await manager.ensure(owner, asked("P", 1)))).toEqual({ P: "given" });
    });

    test("and looks that lag make one value of what two make at once", async () => {
      const owner = newOwner();
      server.store.lag("lists and looks");
      const all = await Promise.all([manager, other, manager].map((one) => one.ensure(owner, wanted("A").requests)));
      expect(new Set(all.map((stored) => revealed(stored).A)).size).toBe(1);
    });

    test("let nothing stay that the caller knows of", async () => {
      const owner = newOwner();
      server.store.lag("lists");
      await manager.ensure(owner, wanted("A", "B").requests);
      expect(await other.holdsAny(owner, ["A", "B"])).toBe(true);
      await other.remove(owner, ["A", "B", "NEVER_MADE"]);
      expect([server.held(owner, "A"), server.held(owner, "B")]).toEqual([undefined, undefined]);
      expect(await other.holdsAny(owner, ["A", "B"])).toBe(false);
    });

    test("hold up nobody with what is gone, and cost no write for it", async () => {
      const owner = newOwner();
      await manager.ensure(owner, wanted("A", "B").requests);
      server.store.lag("lists");
      await manager.remove(owner, ["A"]);
      expect([server.held(owner, "A"), server.held(owner, "B")]).toEqual([undefined, undefined]);
      const from = server.calls.length;
      expect(await manager.holdsAny(owner, ["A"])).toBe(false);
      await manager.remove(owner, ["A"]);
      expect(writes(from)).toEqual([]);
    });

    test("name no owner of whom nothing is left, whoever removed it", async () => {
      const [owner, another] = [newOwner(), newOwner()];
      await manager.ensure(owner, wanted("A", "B").requests);
      await manager.ensure(another, wanted("A", "B").requests);
      server.store.lag("lists");
      await manager.remove(owner, []);
      server.store.secrets.delete(server.held(another, "A")?.name ?? "");
      for (const one of [manager, other, manager]) {
        const uids = (await one.owners(nobody)).map(({ uid }) => uid);
        expect(uids).not.toContain(owner.uid);
        expect(uids).toContain(another.uid);
      }
    });

    test("make nobody look again at what he removed himself", async () => {
      const owner = newOwner();
      await manager.ensure(owner, wanted("A", "B").requests);
      server.store.lag("lists");
      await manager.remove(owner, []);
      const from = server.calls.length;
      expect(await manager.owners((uid) => uid !== owner.uid)).toEqual([]);
      expect(server.calls.slice(from)).toEqual(["listSecrets"]);
    });

    test("name one whose entry was made again", async () => {
      const owner = newOwner();
      await manager.ensure(owner, wanted("A").requests);
      await manager.remove(owner, []);
      await manager.ensure(owner, wanted("A").requests);
      expect((await manager.owners(nobody)).map(({ uid }) => uid)).toContain(owner.uid);
    });
  });

  describe("what is somebody else's", () => {
    test("under our id is neither read nor changed nor removed", async () => {
      const owner = newOwner();
      const id = secretEntryId(owner, "A");
      await shareInGoogle(server, { id, labels: { "environment-uid": owner.uid }, values: ["theirs"] });
      const before = structuredClone(server.entry(id));
      const failure = await failureOf(manager.ensure(owner, wanted("A").requests));
      expect(failure).toBeInstanceOf(SecretManagerUnavailable);
      await manager.remove(owner, []);
      expect(await manager.holdsAny(owner, [])).toBe(false);
      expect((await manager.owners(nobody)).map(({ uid }) => uid)).not.toContain(owner.uid);
      expect(server.entry(id)).toEqual(before);
    });

    test("is not told of as an owner's, whose labels and annotations differ", async () => {
      const [owner, another] = [newOwner(), newOwner()];
      await manager.ensure(owner, wanted("A").requests);
      Object.assign(server.held(owner, "A")?.labels ?? {}, { "environment-uid": another.uid });
      const uids = (await manager.owners(nobody)).map(({ uid }) => uid);
      expect(uids).not.toContain(owner.uid);
      expect(uids).not.toContain(another.uid);
      await manager.remove(another, []);
      expect(server.held(owner, "A")).toBeDefined();
    });
  });

  describe("is unavailable, in words and without values", () => {
    const secret = "s3cr3t-value";
    test.each([
      [codes.PERMISSION_DENIED, /permission denied.*'test-project'/],
      [codes.RESOURCE_EXHAUSTED, /quota of project 'test-project'/],
      [codes.UNAVAILABLE, /can't be reached/],
      [codes.DEADLINE_EXCEEDED, /no answer in time/],
      [codes.INVALID_ARGUMENT, /refused in project 'test-project'/],
      [codes.FAILED_PRECONDITION, /refused in project 'test-project'/],
      [13, /code 13/],
    ])("when the answer is code %d", async (code, words) => {
      const owner = newOwner();
      await manager.ensure(owner, asked("A", 1, secret));
      server.seam(() => {
        throw grpcError(code, `the server quotes ${secret} and ${Buffer.from(secret).toString("base64")}`);
      });
      const failures = await Promise.all([
        failureOf(manager.ensure(owner, asked("A", 2, secret))),
        failureOf(manager.remove(owner, [])),
        failureOf(manager.holdsAny(owner, [])),
        failureOf(manager.shared("x")),
        failureOf(manager.read("x", 1)),
        failureOf(manager.owners(nobody)),
      ]);
      for (const failure of failures) {
        expect(failure).toBeInstanceOf(SecretManagerUnavailable);
        expect((failure as Error).name).toBe("SecretManagerUnavailable");
        expect((failure as Error).message).toMatch(words);
        const shown = [inspect(failure, { depth: 9, showHidden: true }), JSON.stringify(failure), String(failure)];
        expect(shown.join()).not.toMatch(new RegExp(`${secret}|${Buffer.from(secret).toString("base64")}`));
      }
    });

    test.each(["addSecretVersion", "accessSecretVersion"])("when only %s fails", async (method) => {
      const owner = newOwner();
      if (method === "accessSecretVersion") await manager.ensure(owner, asked("A", 1, secret));
      server.seam((called, _request, next) => {
        if (called === method) throw grpcError(codes.INVALID_ARGUMENT, `bad payload: ${secret}`);
        return next();
      });
      const failure = await failureOf(manager.ensure(owner, asked("A", 1, secret)));
      expect(failure).toBeInstanceOf(SecretManagerUnavailable);
      expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain(secret);
    });

    test("when nobody listens", async () => {
      const gone = await startGoogleSecretManager();
      const orphaned = googleManager(gone);
      await gone.stop();
      expect(await failureOf(orphaned.holdsAny(newOwner(), []))).toBeInstanceOf(SecretManagerUnavailable);
      await orphaned.close();
    });

    test("when a version was disabled or destroyed, instead of making another", async () => {
      const owner = newOwner();
      await manager.ensure(owner, asked("A", 1, "a1"));
      for (const version of server.held(owner, "A")?.versions ?? []) version.state = "DISABLED";
      expect(await failureOf(manager.ensure(owner, asked("A", 1, "new")))).toBeInstanceOf(SecretManagerUnavailable);
      expect(server.held(owner, "A")?.versions).toHaveLength(1);
    });

    test("when a value was damaged on its way", async () => {
      const owner = newOwner();
      await manager.ensure(owner, asked("A", 1, "whole"));
      server.seam((called, _request, next) => {
        const answer = next() as { payload: object };
        if (called !== "accessSecretVersion") return answer;
        return { ...answer, payload: { ...answer.payload, data: Buffer.from("h0le") } };
      });
      expect(await failureOf(manager.ensure(owner, asked("A", 1)))).toMatchObject({
        message: expect.stringContaining("checksum"),
      });
    });
  });

  test("asks once, even where Google's client would try again, and never waits for an answer without end", async () => {
    const owner = newOwner();
    await manager.ensure(owner, wanted("A").requests);
    const [calls, deadlines] = [server.calls.length, server.deadlines.length];
    server.seam((called, _request, next) => {
      if (called === "accessSecretVersion") throw grpcError(codes.UNAVAILABLE, "away");
      return next();
    });
    expect(await failureOf(manager.ensure(owner, asked("A", 1)))).toBeInstanceOf(SecretManagerUnavailable);
    expect(server.calls.slice(calls)).toEqual(["getSecret", "accessSecretVersion"]);
    for (const milliseconds of server.deadlines.slice(deadlines)) {
      expect(milliseconds).toBeGreaterThan(5_000);
      expect(milliseconds).toBeLessThanOrEqual(10_000);
    }
  });

  test("holds up one caller at a time while Google does not answer, and nobody once it does", async () => {
    const owner = newOwner();
    server.seam(() => {
      throw grpcError(codes.DEADLINE_EXCEEDED, "too late");
    });
    const first = await failureOf(manager.holdsAny(owner, []));
    const released = Promise.withResolvers<void>();
    server.seam(async (_called, _request, next) => {
      await released.promise;
      return next();
    });
    const looking = manager.holdsAny(owner, []);
    const before = server.calls.length;
    const others = await Promise.all([1, 2, 3].map(() => failureOf(manager.holdsAny(owner, []))));
    // The same words, or a condition that shows them would change with every pass.
    expect(others.map(String)).toEqual(Array(3).fill(String(first)));
    expect(await manager.ensure(owner, [])).toEqual(new Map());
    released.resolve();
    expect(await looking).toBe(false);
    expect(server.calls.length - before).toBeLessThanOrEqual(1);
    expect(await Promise.all([1, 2, 3].map(() => manager.holdsAny(owner, [])))).toEqual([false, false, false]);
  });

  describe("when Google answers, but slowly", () => {
    /** Every call takes so long. */
    const slowed = (seconds: number) => {
      const clock = new TestClock();
      server.seam((_called, _request, next) => {
        clock.advance(seconds * 1_000);
        return next();
      });
      return googleManager(server, { clock });
    };

    test("ends what it does after ten seconds in all, and goes on from there in the next pass", async () => {
      const owner = newOwner();
      const patient = slowed(6);
      const [calls, deadlines] = [server.calls.length, server.deadlines.length];
      // Others are told the same, and must not read there whose turn it was.
      expect(await failureOf(patient.ensure(owner, asked("A", 1, "a")))).toMatchObject({
        name: "SecretManagerUnavailable",
        message: "Google Secret Manager: no answer in time",
      });
      expect(server.calls.slice(calls)).toEqual(["getSecret", "createSecret"]);
      expect(server.deadlines.at(deadlines + 1)).toBeLessThanOrEqual(4_000);
      server.seam(undefined);
      expect(revealed(await patient.ensure(owner, asked("A", 1, "a")))).toEqual({ A: "a" });
      await patient.close();
    });

    test("holds up one caller at a time from then on, until it is quick enough again", async () => {
      const owner = newOwner();
      const patient = slowed(6);
      await failureOf(patient.ensure(owner, asked("A", 1, "a")));
      server.seam(undefined);
      const all = await Promise.all([1, 2, 3].map(() => failureOf(patient.ensure(owner, asked("A", 1, "a")))));
      expect(all.filter((failure) => failure === undefined)).toHaveLength(1);
      const again = await Promise.all([1, 2, 3].map(() => failureOf(patient.ensure(owner, asked("A", 1, "a")))));
      expect(again).toEqual([undefined, undefined, undefined]);
      await patient.close();
    });

    test("may take its time to list whose entries there are", async () => {
      const owner = newOwner();
      await manager.ensure(owner, asked("A", 1, "a"));
      const patient = slowed(11);
      expect(await patient.owners((uid) => uid !== owner.uid)).toHaveLength(1);
      await patient.close();
    });
  });

  test("works once there are credentials, although it was asked before", async () => {
    let connections = 0;
    const early = googleManager(server, {
      connect: async () => {
        connections += 1;
        if (connections > 1) return server.connect();
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
    const without = googleManager(server, { connect: async () => clientWithoutCredentials() });
    await failureOf(without.holdsAny(newOwner(), []));
    await without.close();
    await without.close();
  });
});

/** Google's own client, which only finds out when it is about to call. */
function clientWithoutCredentials() {
  const auth = { getClient: () => Promise.reject(new Error("Could not load the default credentials")) };
  return new SecretManagerServiceClient({ projectId: "p", auth: auth as never });
}
