import { inspect } from "node:util";
import { expect, test } from "@jest/globals";
import { generatedRequests, newOwner, requested, revealed, type SecretManagerScene } from "./scene.ts";

/** Tests of the creation, storage and removal of values. */
export function secretValues(scene: SecretManagerScene): void {
  test("makes what is absent, in the version that was asked for", async () => {
    const stored = await scene.manager.ensure(newOwner(), generatedRequests("A", "B").requests);
    expect([...stored.keys()]).toEqual(["A", "B"]);
    for (const [variable, { version, value }] of stored) {
      expect(version).toBe(1);
      expect(value.reveal()).toMatch(new RegExp(`^${variable}-`));
    }
  });

  test("gives what is there, and keeps it whatever is generated", async () => {
    const owner = newOwner();
    const first = await scene.manager.ensure(owner, generatedRequests("A").requests);
    const again = await scene.other.ensure(owner, generatedRequests("A").requests);
    expect(revealed(again)).toEqual(revealed(first));
  });

  test("adds what is new beside it", async () => {
    const owner = newOwner();
    const first = await scene.manager.ensure(owner, generatedRequests("A").requests);
    const more = await scene.manager.ensure(owner, generatedRequests("A", "B").requests);
    expect(revealed(more)).toEqual({ ...revealed(first), B: expect.stringMatching(/^B-/) });
    expect(revealed(await scene.manager.ensure(owner, generatedRequests("B").requests))).toEqual({
      B: revealed(more).B,
    });
  });

  test("makes nothing when nothing is asked for", async () => {
    const owner = newOwner();
    expect(await scene.manager.ensure(owner, [])).toEqual(new Map());
    expect(await scene.manager.holdsAny(owner, [])).toBe(false);
  });

  test("distinguishes variables by case", async () => {
    const values = revealed(
      await scene.manager.ensure(newOwner(), generatedRequests("Key", "KEY", "key", "k_e_y").requests),
    );
    expect(Object.entries(values).every(([variable, value]) => value.startsWith(`${variable}-`))).toBe(true);
  });

  test("holds fifty variables with names as long as they may be", async () => {
    const owner = newOwner("a".repeat(50));
    const names = Array.from({ length: 50 }, (_, index) => `V${String(index).padStart(127, "_")}`);
    const made = await scene.manager.ensure(owner, generatedRequests(...names).requests);
    expect(made.size).toBe(50);
    expect(revealed(await scene.other.ensure(owner, generatedRequests(...names).requests))).toEqual(revealed(made));
    await scene.manager.remove(owner, []);
    expect(await scene.other.holdsAny(owner, [])).toBe(false);
  });

  test.each([
    ["make all of it", []],
    ["add to what is there", ["A"]],
  ])("gives everybody the same when many %s at once", async (_what, before) => {
    const owner = newOwner();
    if (before.length > 0) await scene.manager.ensure(owner, generatedRequests(...before).requests);
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        (i % 2 ? scene.other : scene.manager).ensure(owner, generatedRequests("A", "B").requests),
      ),
    );
    const kept = revealed(await scene.manager.ensure(owner, generatedRequests("A", "B").requests));
    for (const stored of all) expect(revealed(stored)).toEqual(kept);
  });

  test("gives an owner what others of a like name never see", async () => {
    const one = newOwner("foo");
    const twins = [newOwner("foo"), newOwner("foo-bar"), newOwner("fo")];
    const values = await Promise.all(
      [one, ...twins].map((owner) => scene.manager.ensure(owner, generatedRequests("A").requests)),
    );
    expect(new Set(values.map((stored) => revealed(stored).A)).size).toBe(4);
    await scene.manager.remove(one, []);
    expect(await scene.manager.holdsAny(one, [])).toBe(false);
    for (const [index, twin] of twins.entries()) {
      expect(await scene.manager.holdsAny(twin, [])).toBe(true);
      expect(revealed(await scene.manager.ensure(twin, generatedRequests("A").requests))).toEqual(
        revealed(values[index + 1] ?? new Map()),
      );
    }
  });

  test("says whether it holds anything, and removes it as often as it is asked", async () => {
    const owner = newOwner();
    expect(await scene.manager.holdsAny(owner, [])).toBe(false);
    await scene.manager.remove(owner, []);
    await scene.manager.ensure(owner, generatedRequests("A", "B").requests);
    expect(await scene.other.holdsAny(owner, [])).toBe(true);
    await Promise.all([scene.manager.remove(owner, []), scene.other.remove(owner, [])]);
    expect(await scene.other.holdsAny(owner, [])).toBe(false);
    await scene.manager.remove(owner, []);
  });

  test("keeps texts of every kind byte for byte, and shows none by mistake", async () => {
    const value = 'pässwörd "quoted" $VAR {{ x }}\n\t\u0000 𝄞';
    const owner = newOwner();
    await scene.manager.ensure(owner, requested("A", 1, value));
    const stored = await scene.other.ensure(owner, requested("A", 1));
    expect(revealed(stored)).toEqual({ A: value });
    expect(inspect(stored, { depth: 9 })).not.toContain("quoted");
    expect(JSON.stringify([...stored])).not.toContain("quoted");
  });
}
