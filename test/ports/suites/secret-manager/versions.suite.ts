import { describe, expect, test } from "@jest/globals";
import { generatedRequests, newOwner, requested, revealed, type SecretManagerScene } from "./scene.ts";

/** Tests of consecutive versions, and of foreign values. */
export function secretVersions(scene: SecretManagerScene): void {
  describe("versions", () => {
    test("a new version stands beside the old one", async () => {
      const owner = newOwner();
      await scene.manager.ensure(owner, [...requested("A", 1, "a1"), ...requested("B", 1, "b1")]);
      const rotated = await scene.manager.ensure(owner, [...requested("A", 2, "a2"), ...requested("B", 1, "new")]);
      expect(revealed(rotated)).toEqual({ A: "a2", B: "b1" });
      expect(rotated.get("A")?.version).toBe(2);
      expect(revealed(await scene.other.ensure(owner, requested("A", 1)))).toEqual({ A: "a1" });
      expect(revealed(await scene.other.ensure(owner, requested("A", 2, "again")))).toEqual({ A: "a2" });
    });

    test("many may follow each other, and each is answered exactly", async () => {
      const owner = newOwner();
      for (let version = 1; version <= 12; version++)
        await scene.manager.ensure(owner, requested("A", version, `a${version}`));
      for (const version of [1, 2, 9, 10, 12]) {
        expect(revealed(await scene.other.ensure(owner, requested("A", version)))).toEqual({ A: `a${version}` });
      }
    });

    test("everybody who makes a next version at once gets the same one", async () => {
      const owner = newOwner();
      await Promise.all(
        [0, 1, 2, 3].map((i) => (i % 2 ? scene.other : scene.manager).ensure(owner, requested("A", 1, `a1-${i}`))),
      );
      const all = await Promise.all(
        [0, 1, 2, 3].map((i) => (i % 2 ? scene.other : scene.manager).ensure(owner, requested("A", 2, `a2-${i}`))),
      );
      const kept = revealed(await scene.manager.ensure(owner, requested("A", 2)));
      expect(kept).toEqual({ A: expect.stringMatching(/^a2-/) });
      for (const stored of all) expect(revealed(stored)).toEqual(kept);
    });

    test("what lost the race for a version is never taken for the next one", async () => {
      const owner = newOwner();
      await Promise.all(
        [0, 1, 2, 3].map((i) => (i % 2 ? scene.other : scene.manager).ensure(owner, requested("A", 1, `a1-${i}`))),
      );
      expect(await scene.manager.ensure(owner, requested("A", 2))).toEqual(new Map());
      expect(revealed(await scene.manager.ensure(owner, requested("A", 2, "a2")))).toEqual({ A: "a2" });
    });

    test("a version may be made although the one before was never there", async () => {
      const owner = newOwner();
      expect(revealed(await scene.manager.ensure(owner, requested("A", 3, "a3")))).toEqual({ A: "a3" });
      expect(await scene.other.ensure(owner, requested("A", 2))).toEqual(new Map());
      expect(revealed(await scene.other.ensure(owner, requested("A", 3)))).toEqual({ A: "a3" });
      expect(revealed(await scene.other.ensure(owner, requested("A", 1, "a1")))).toEqual({ A: "a1" });
    });
  });

  describe("values that a user provides", () => {
    test("are left out until they are there", async () => {
      const owner = newOwner();
      expect(await scene.manager.ensure(owner, requested("P", 1))).toEqual(new Map());
      expect(await scene.manager.holdsAny(owner, [])).toBe(false);
      const mixed = [...generatedRequests("A").requests, ...requested("P", 1)];
      expect([...(await scene.manager.ensure(owner, mixed)).keys()]).toEqual(["A"]);
      await scene.other.ensure(owner, requested("P", 1, "given"));
      expect(revealed(await scene.manager.ensure(owner, requested("P", 1)))).toEqual({ P: "given" });
    });

    test("survive that both sides begin at once", async () => {
      const owner = newOwner();
      await Promise.all([
        scene.manager.ensure(owner, [...generatedRequests("A").requests, ...requested("P", 1)]),
        scene.other.ensure(owner, requested("P", 1, "given")),
      ]);
      const stored = revealed(await scene.manager.ensure(owner, [...requested("A", 1), ...requested("P", 1)]));
      expect(stored).toEqual({ A: expect.stringMatching(/^A-/), P: "given" });
    });
  });
}
