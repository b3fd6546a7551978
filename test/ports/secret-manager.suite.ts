import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Sensitive } from "../../crds/sensitive.ts";
import type { SecretManager, SecretOwner } from "../../operator/ports/secret-manager.ts";

/** An adapter with the rest of the world around it. */
export interface SecretManagerWorld {
  /** Two clients of the same store, as two replicas are. */
  readonly managers: readonly [SecretManager, SecretManager];
  stop(): Promise<void>;
}

let counter = 0;
/** An owner that nobody had before. */
export function newOwner(name = `owner-${++counter}`): SecretOwner {
  return { name, uid: randomUUID() };
}

/** Asks for a variable; every call of `generate` makes another value. */
export function wanted(...names: string[]) {
  let generated = 0;
  const requests = names.map((name) => ({
    name,
    generate: () => {
      generated += 1;
      return new Sensitive(`${name}-${randomUUID()}`);
    },
  }));
  return { requests, generated: () => generated };
}

/** Plain values, for comparing. */
export function revealed(stored: ReadonlyMap<string, { value: Sensitive }>): Record<string, string> {
  return Object.fromEntries([...stored].map(([name, { value }]) => [name, value.reveal()]));
}

/** What every adapter of the SecretManager port keeps to. */
export function secretManagerSuite(name: string, makeWorld: () => Promise<SecretManagerWorld>): void {
  describe(`SecretManager: ${name}`, () => {
    let world: SecretManagerWorld;
    let manager: SecretManager;
    beforeAll(async () => {
      world = await makeWorld();
      [manager] = world.managers;
    }, 60_000);
    afterAll(() => world.stop(), 30_000);

    test("makes what is absent, in its first version", async () => {
      const stored = await manager.ensure(newOwner(), wanted("A", "B").requests);
      expect([...stored.keys()]).toEqual(["A", "B"]);
      for (const [variable, { version, value }] of stored) {
        expect(version).toBe(1);
        expect(value.reveal()).toMatch(new RegExp(`^${variable}-`));
      }
    });

    test("gives what is there, and keeps it whatever is generated", async () => {
      const owner = newOwner();
      const first = await manager.ensure(owner, wanted("A").requests);
      const again = await world.managers[1].ensure(owner, wanted("A").requests);
      expect(revealed(again)).toEqual(revealed(first));
    });

    test("adds what is new beside it", async () => {
      const owner = newOwner();
      const first = await manager.ensure(owner, wanted("A").requests);
      const more = await manager.ensure(owner, wanted("A", "B").requests);
      expect(revealed(more)).toEqual({ ...revealed(first), B: expect.stringMatching(/^B-/) });
      expect(revealed(await manager.ensure(owner, wanted("B").requests))).toEqual({ B: revealed(more).B });
    });

    test.each([
      ["make all of it", []],
      ["add to what is there", ["A"]],
    ])("gives everybody the same when many %s at once", async (_what, before) => {
      const owner = newOwner();
      if (before.length > 0) await manager.ensure(owner, wanted(...before).requests);
      const all = await Promise.all(
        Array.from({ length: 8 }, (_, i) => world.managers[i % 2 ? 1 : 0].ensure(owner, wanted("A", "B").requests)),
      );
      const kept = revealed(await manager.ensure(owner, wanted("A", "B").requests));
      for (const stored of all) expect(revealed(stored)).toEqual(kept);
    });

    test("gives an owner what others of a like name never see", async () => {
      const one = newOwner("foo");
      const twins = [newOwner("foo"), newOwner("foo-bar"), newOwner("fo")];
      const values = await Promise.all([one, ...twins].map((owner) => manager.ensure(owner, wanted("A").requests)));
      expect(new Set(values.map((stored) => revealed(stored).A)).size).toBe(4);
      await manager.remove(one);
      expect(await manager.holdsAny(one)).toBe(false);
      for (const [index, twin] of twins.entries()) {
        expect(await manager.holdsAny(twin)).toBe(true);
        expect(revealed(await manager.ensure(twin, wanted("A").requests))).toEqual(
          revealed(values[index + 1] ?? new Map()),
        );
      }
    });

    test("says whether it holds anything, and removes it as often as it is asked", async () => {
      const owner = newOwner();
      expect(await manager.holdsAny(owner)).toBe(false);
      await manager.remove(owner);
      await manager.ensure(owner, wanted("A").requests);
      expect(await world.managers[1].holdsAny(owner)).toBe(true);
      await manager.remove(owner);
      expect(await world.managers[1].holdsAny(owner)).toBe(false);
      await manager.remove(owner);
    });

    test("keeps texts of every kind byte for byte", async () => {
      const value = 'pässwörd "quoted" $VAR {{ x }}\n\t\u0000 𝄞';
      const requests = [{ name: "A", generate: () => new Sensitive(value) }];
      const owner = newOwner();
      await manager.ensure(owner, requests);
      expect(revealed(await world.managers[1].ensure(owner, wanted("A").requests))).toEqual({ A: value });
    });
  });
}
