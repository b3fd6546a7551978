import { randomUUID } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { until } from "../../../support/fixtures/until.ts";
import { generatedRequests, newOwner, noOwner, type SecretManagerScene } from "./scene.ts";

/** Tests of shared secrets, and of owners. */
export function secretOwners(scene: SecretManagerScene): void {
  describe("shared secrets", () => {
    const id = () => `shared-${randomUUID()}`;

    test("show their labels, and their values by version", async () => {
      const secret = { id: id(), labels: { team: "shop" }, values: ["one", "two", "three"] };
      await scene.world.share(secret);
      expect((await scene.manager.shared(secret.id))?.labels).toMatchObject({ team: "shop" });
      const latest = await scene.manager.read(secret.id, "latest");
      expect([latest?.version, latest?.value.reveal()]).toEqual([3, "three"]);
      const second = await scene.manager.read(secret.id, 2);
      expect([second?.version, second?.value.reveal()]).toEqual([2, "two"]);
      expect(await scene.manager.read(secret.id, 4)).toBeUndefined();
    });

    test("may have no version yet", async () => {
      const secret = { id: id(), labels: {}, values: [] };
      await scene.world.share(secret);
      expect(await scene.manager.shared(secret.id)).toBeDefined();
      expect(await scene.manager.read(secret.id, "latest")).toBeUndefined();
    });

    test("are never an environment's", async () => {
      const owner = newOwner();
      await scene.manager.ensure(owner, generatedRequests("A").requests);
      expect(await scene.manager.shared(scene.world.idOf(owner, "A"))).toBeUndefined();
    });

    test.each([
      "absent",
      "",
      ".",
      "..",
      "../../../projects/other/secrets/x",
      "a/versions/1",
      "a?b=c",
      "a b",
      "ä",
      "a".repeat(256),
    ])("there is none called '%s'", async (name) => {
      expect(await scene.manager.shared(name)).toBeUndefined();
      expect(await scene.manager.read(name, "latest")).toBeUndefined();
    });

    test("stay when an owner of a like name goes", async () => {
      const owner = newOwner();
      const secret = { id: `${owner.name}-shared`, labels: {}, values: ["kept"] };
      await scene.world.share(secret);
      await scene.manager.ensure(owner, generatedRequests("A").requests);
      await scene.manager.remove(owner, []);
      expect((await scene.manager.read(secret.id, 1))?.value.reveal()).toBe("kept");
    });
  });

  describe("owners", () => {
    test("are named with their UID and since when, once each, until their last entry is gone", async () => {
      const [owner, sameNamed] = [newOwner("same"), newOwner("same")];
      const before = Date.now();
      await scene.manager.ensure(owner, generatedRequests("A", "B").requests);
      await scene.manager.ensure(sameNamed, generatedRequests("A").requests);
      const ours = async () =>
        (await scene.other.owners(noOwner)).filter(({ uid }) => [owner.uid, sameNamed.uid].includes(uid));
      const held = await ours();
      expect(held.map(({ name, uid }) => ({ name, uid }))).toEqual(expect.arrayContaining([owner, sameNamed]));
      expect(held).toHaveLength(2);
      for (const { since, until } of held) {
        // Managers' timestamps have whole seconds.
        expect(since.getTime()).toBeGreaterThan(before - 1_500);
        expect(until.getTime()).toBeLessThan(Date.now() + 1_500);
      }
      await scene.manager.remove(owner, []);
      expect((await ours()).map(({ uid }) => uid)).toEqual([sameNamed.uid]);
    });

    test("are reported with the time of their oldest entry and of their youngest", async () => {
      const owner = newOwner();
      await scene.manager.ensure(owner, generatedRequests("A").requests);
      const oneSecondLater = Date.now() + 1_000;
      await until(() => Date.now() > oneSecondLater);
      await scene.manager.ensure(owner, generatedRequests("B").requests);
      const [held] = await scene.other.owners((uid) => uid !== owner.uid);
      expect(Number(held?.until) - Number(held?.since)).toBeGreaterThanOrEqual(1_000);
    });

    test("are left out when the caller knows them", async () => {
      const [owner, known] = [newOwner(), newOwner()];
      for (const one of [owner, known]) await scene.manager.ensure(one, generatedRequests("A").requests);
      const uids = (await scene.manager.owners((uid) => uid === known.uid)).map(({ uid }) => uid);
      expect(uids).toContain(owner.uid);
      expect(uids).not.toContain(known.uid);
    });

    test("are API tokens, too", async () => {
      const token = { name: "api-token--0123456789abcdef", uid: randomUUID() };
      await scene.manager.ensure(token, generatedRequests("TOKEN").requests);
      expect(await scene.other.owners((uid) => uid !== token.uid)).toMatchObject([token]);
      await scene.manager.remove(token, ["TOKEN"]);
      expect(await scene.other.owners((uid) => uid !== token.uid)).toEqual([]);
    });

    test("don't count what is shared", async () => {
      await scene.world.share({ id: `shared-${randomUUID()}`, labels: {}, values: ["x"] });
      for (const { name, uid } of await scene.manager.owners(noOwner)) {
        expect(name).not.toBe("");
        expect(uid).toMatch(/^[0-9a-f-]{36}$/);
      }
    });
  });
}
