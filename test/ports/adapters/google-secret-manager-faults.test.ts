import { inspect } from "node:util";
import { describe, expect, test } from "@jest/globals";
import { secretEntryId } from "../../../crds/names.ts";
import { SecretManagerUnavailable } from "../../../operator/ports/secret-manager.ts";
import { googleManager, shareInGoogle, startGoogleSecretManager } from "../../support/doubles/google-secret-manager.ts";
import { codes, grpcError } from "../../support/doubles/google-secret-store.ts";
import { generatedRequests, newOwner, noOwner, requested, revealed } from "../suites/secret-manager/scene.ts";
import { failureOf, googleSecretManagers } from "./google-secret-managers.ts";

const world = googleSecretManagers();

describe("Google Secret Manager, when something goes wrong", () => {
  describe("a crash or a lost answer", () => {
    const writes = ["createSecret", "addSecretVersion"] as const;
    test.each(
      writes.flatMap((method) => [
        { method, when: "before" },
        { method, when: "after" },
      ]),
    )("$when $method leaves what the next pass completes, with one value", async ({ method, when }) => {
      const owner = newOwner();
      world.server.intercept(async (called, _request, next) => {
        if (called !== method) return next();
        if (when === "after") next();
        throw grpcError(codes.UNAVAILABLE, "gone");
      });
      const request = generatedRequests("A");
      expect(await failureOf(world.manager.ensure(owner, request.requests))).toBeInstanceOf(SecretManagerUnavailable);
      world.server.intercept(undefined);
      const stored = revealed(await world.other.ensure(owner, request.requests));
      expect(world.server.held(owner, "A")?.versions.map(({ data }) => data.toString())).toEqual([stored.A]);
      expect(revealed(await world.manager.ensure(owner, generatedRequests("A").requests))).toEqual(stored);
      // A value that reached the manager stays.
      expect(request.generated()).toHaveLength(method === "addSecretVersion" && when === "before" ? 2 : 1);
    });

    test("between a next version and its alias leaves a number that is never answered", async () => {
      const owner = newOwner();
      await world.manager.ensure(owner, requested("A", 1, "a1"));
      world.server.intercept((called, _request, next) => {
        if (called === "updateSecret") throw grpcError(codes.DEADLINE_EXCEEDED, "too late");
        return next();
      });
      expect(await failureOf(world.manager.ensure(owner, requested("A", 2, "lost")))).toBeInstanceOf(
        SecretManagerUnavailable,
      );
      world.server.intercept(undefined);
      expect(await world.other.ensure(owner, requested("A", 2))).toEqual(new Map());
      expect(revealed(await world.other.ensure(owner, requested("A", 2, "kept")))).toEqual({ A: "kept" });
    });

    test("after the alias was set keeps the version", async () => {
      const owner = newOwner();
      await world.manager.ensure(owner, requested("A", 1, "a1"));
      world.server.intercept((called, _request, next) => {
        const answer = next();
        if (called === "updateSecret") throw grpcError(codes.UNAVAILABLE, "gone");
        return answer;
      });
      expect(await failureOf(world.manager.ensure(owner, requested("A", 2, "a2")))).toBeInstanceOf(
        SecretManagerUnavailable,
      );
      world.server.intercept(undefined);
      expect(revealed(await world.other.ensure(owner, requested("A", 2, "other")))).toEqual({ A: "a2" });
    });

    test("after a deletion lets the next one end", async () => {
      const owner = newOwner();
      await world.manager.ensure(owner, generatedRequests("A", "B").requests);
      let lost = 0;
      world.server.intercept((called, _request, next) => {
        const answer = next();
        if (called === "deleteSecret" && ++lost === 1) throw grpcError(codes.UNAVAILABLE, "gone");
        return answer;
      });
      expect(await failureOf(world.manager.remove(owner, []))).toBeInstanceOf(SecretManagerUnavailable);
      await world.manager.remove(owner, []);
      expect(await world.manager.holdsAny(owner, [])).toBe(false);
    });
  });

  describe("a foreign object", () => {
    test("under our id is neither read nor changed nor removed", async () => {
      const owner = newOwner();
      const id = secretEntryId(owner, "A");
      await shareInGoogle(world.server, { id, labels: { "environment-uid": owner.uid }, values: ["theirs"] });
      const before = structuredClone(world.server.entry(id));
      const failure = await failureOf(world.manager.ensure(owner, generatedRequests("A").requests));
      expect(failure).toBeInstanceOf(SecretManagerUnavailable);
      await world.manager.remove(owner, []);
      expect(await world.manager.holdsAny(owner, [])).toBe(false);
      expect((await world.manager.owners(noOwner)).map(({ uid }) => uid)).not.toContain(owner.uid);
      expect(world.server.entry(id)).toEqual(before);
    });

    test("is not reported as an owner's, whose labels and annotations differ", async () => {
      const [owner, another] = [newOwner(), newOwner()];
      await world.manager.ensure(owner, generatedRequests("A").requests);
      Object.assign(world.server.held(owner, "A")?.labels ?? {}, { "environment-uid": another.uid });
      const uids = (await world.manager.owners(noOwner)).map(({ uid }) => uid);
      expect(uids).not.toContain(owner.uid);
      expect(uids).not.toContain(another.uid);
      await world.manager.remove(another, []);
      expect(world.server.held(owner, "A")).toBeDefined();
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
      await world.manager.ensure(owner, requested("A", 1, secret));
      world.server.intercept(() => {
        throw grpcError(code, `the server quotes ${secret} and ${Buffer.from(secret).toString("base64")}`);
      });
      const failures = await Promise.all([
        failureOf(world.manager.ensure(owner, requested("A", 2, secret))),
        failureOf(world.manager.remove(owner, [])),
        failureOf(world.manager.holdsAny(owner, [])),
        failureOf(world.manager.shared("x")),
        failureOf(world.manager.read("x", 1)),
        failureOf(world.manager.owners(noOwner)),
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
      if (method === "accessSecretVersion") await world.manager.ensure(owner, requested("A", 1, secret));
      world.server.intercept((called, _request, next) => {
        if (called === method) throw grpcError(codes.INVALID_ARGUMENT, `bad payload: ${secret}`);
        return next();
      });
      const failure = await failureOf(world.manager.ensure(owner, requested("A", 1, secret)));
      expect(failure).toBeInstanceOf(SecretManagerUnavailable);
      expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain(secret);
    });

    test("without a listener", async () => {
      const gone = await startGoogleSecretManager();
      const orphaned = googleManager(gone);
      await gone.stop();
      expect(await failureOf(orphaned.holdsAny(newOwner(), []))).toBeInstanceOf(SecretManagerUnavailable);
      await orphaned.close();
    });

    test("when a version was disabled or destroyed, instead of making another", async () => {
      const owner = newOwner();
      await world.manager.ensure(owner, requested("A", 1, "a1"));
      for (const version of world.server.held(owner, "A")?.versions ?? []) version.state = "DISABLED";
      expect(await failureOf(world.manager.ensure(owner, requested("A", 1, "new")))).toBeInstanceOf(
        SecretManagerUnavailable,
      );
      expect(world.server.held(owner, "A")?.versions).toHaveLength(1);
    });

    test("when a value was damaged on its way", async () => {
      const owner = newOwner();
      await world.manager.ensure(owner, requested("A", 1, "whole"));
      world.server.intercept((called, _request, next) => {
        const answer = next() as { payload: object };
        if (called !== "accessSecretVersion") return answer;
        return { ...answer, payload: { ...answer.payload, data: Buffer.from("h0le") } };
      });
      expect(await failureOf(world.manager.ensure(owner, requested("A", 1)))).toMatchObject({
        message: expect.stringContaining("checksum"),
      });
    });
  });
});
