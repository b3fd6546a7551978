import { afterEach, describe, expect, test } from "@jest/globals";
import { SecretManagerUnavailable } from "../../../operator/ports/secret-manager.ts";
import { generatedRequests, newOwner, noOwner, requested, revealed } from "../suites/secret-manager/scene.ts";
import { failureOf, googleSecretManagers } from "./google-secret-managers.ts";

const world = googleSecretManagers();

describe("Google Secret Manager, when something goes wrong", () => {
  describe("lists that lag behind", () => {
    afterEach(() => world.server.store.lag("nothing"));
    const writes = (from: number) =>
      world.server.calls.slice(from).filter((method) => /^(create|add|update|delete)/.test(method));

    test("make no second value", async () => {
      const owner = newOwner();
      world.server.store.lag("lists");
      const stored = revealed(await world.manager.ensure(owner, generatedRequests("A").requests));
      await world.manager.ensure(owner, requested("A", 2, "a2"));
      expect(revealed(await world.other.ensure(owner, generatedRequests("A").requests))).toEqual(stored);
      expect(revealed(await world.other.ensure(owner, requested("A", 2, "other")))).toEqual({ A: "a2" });
    });

    test("make no second version, also while a look shows old aliases", async () => {
      const owner = newOwner();
      await world.manager.ensure(owner, requested("A", 1, "a1"));
      world.server.store.lag("lists and looks");
      await world.manager.ensure(owner, requested("A", 2, "a2"));
      expect(await failureOf(world.other.ensure(owner, requested("A", 2, "other")))).toBeInstanceOf(
        SecretManagerUnavailable,
      );
      world.server.store.lag("nothing");
      expect(revealed(await world.other.ensure(owner, requested("A", 2, "other")))).toEqual({ A: "a2" });
    });

    test.each(["lists", "lists and looks"] as const)("hide no provided value: %s", async (what) => {
      const owner = newOwner();
      world.server.store.lag(what);
      await world.other.ensure(owner, requested("P", 1, "given"));
      expect(revealed(await world.manager.ensure(owner, requested("P", 1)))).toEqual({ P: "given" });
    });

    test("and looks that lag make one value of what two make at once", async () => {
      const owner = newOwner();
      world.server.store.lag("lists and looks");
      const all = await Promise.all(
        [world.manager, world.other, world.manager].map((one) => one.ensure(owner, generatedRequests("A").requests)),
      );
      expect(new Set(all.map((stored) => revealed(stored).A)).size).toBe(1);
    });

    test("let nothing stay that the caller knows of", async () => {
      const owner = newOwner();
      world.server.store.lag("lists");
      await world.manager.ensure(owner, generatedRequests("A", "B").requests);
      expect(await world.other.holdsAny(owner, ["A", "B"])).toBe(true);
      await world.other.remove(owner, ["A", "B", "NEVER_MADE"]);
      expect([world.server.held(owner, "A"), world.server.held(owner, "B")]).toEqual([undefined, undefined]);
      expect(await world.other.holdsAny(owner, ["A", "B"])).toBe(false);
    });

    test("block no caller with what is gone, and cost no write for it", async () => {
      const owner = newOwner();
      await world.manager.ensure(owner, generatedRequests("A", "B").requests);
      world.server.store.lag("lists");
      await world.manager.remove(owner, ["A"]);
      expect([world.server.held(owner, "A"), world.server.held(owner, "B")]).toEqual([undefined, undefined]);
      const from = world.server.calls.length;
      expect(await world.manager.holdsAny(owner, ["A"])).toBe(false);
      await world.manager.remove(owner, ["A"]);
      expect(writes(from)).toEqual([]);
    });

    test("name no owner without remaining secrets, whatever removed them", async () => {
      const [owner, another] = [newOwner(), newOwner()];
      await world.manager.ensure(owner, generatedRequests("A", "B").requests);
      await world.manager.ensure(another, generatedRequests("A", "B").requests);
      world.server.store.lag("lists");
      await world.manager.remove(owner, []);
      world.server.store.secrets.delete(world.server.held(another, "A")?.name ?? "");
      for (const one of [world.manager, world.other, world.manager]) {
        const uids = (await one.owners(noOwner)).map(({ uid }) => uid);
        expect(uids).not.toContain(owner.uid);
        expect(uids).toContain(another.uid);
      }
    });

    test("make no replica read again what it removed itself", async () => {
      const owner = newOwner();
      await world.manager.ensure(owner, generatedRequests("A", "B").requests);
      world.server.store.lag("lists");
      await world.manager.remove(owner, []);
      const from = world.server.calls.length;
      expect(await world.manager.owners((uid) => uid !== owner.uid)).toEqual([]);
      expect(world.server.calls.slice(from)).toEqual(["listSecrets"]);
    });

    test("name one whose entry was made again", async () => {
      const owner = newOwner();
      await world.manager.ensure(owner, generatedRequests("A").requests);
      await world.manager.remove(owner, []);
      await world.manager.ensure(owner, generatedRequests("A").requests);
      expect((await world.manager.owners(noOwner)).map(({ uid }) => uid)).toContain(owner.uid);
    });
  });
});
