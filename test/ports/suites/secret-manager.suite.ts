import { randomUUID } from "node:crypto";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Sensitive } from "../../../crds/sensitive.ts";
import type { Owner } from "../../../operator/ports/cluster.ts";
import type { SecretManager, SecretRequest } from "../../../operator/ports/secret-manager.ts";
import { until } from "../../support/fixtures/until.ts";

/** An adapter with the rest of the world around it. */
export interface SecretManagerWorld {
  /** Two clients of the same store, as two replicas are. */
  readonly managers: readonly [SecretManager, SecretManager];
  /** Makes a secret that no environment owns, the values being its versions from 1 on. */
  share(secret: { id: string; labels: Record<string, string>; values: readonly string[] }): Promise<void>;
  /** The id that the manager gave the entry of a variable. */
  idOf(owner: Owner, variable: string): string;
  stop(): Promise<void>;
}

let counter = 0;
/** An owner that nobody had before. */
export function newOwner(name = `owner-${++counter}`): Owner {
  return { name, uid: randomUUID() };
}

/** For asking after all owners. */
export const nobody = () => false;

/** Asks for the first version of variables; every call of `generate` makes another value. */
export function wanted(...names: string[]) {
  const generated: string[] = [];
  const requests = names.map((name) => ({
    name,
    version: 1,
    generate: () => {
      const value = `${name}-${randomUUID()}`;
      generated.push(value);
      return new Sensitive(value);
    },
  }));
  return { requests, generated: () => generated };
}

/** Asks for one version of a variable: with a value it is made when absent, without one it is only looked for. */
export function asked(name: string, version: number, value?: string): SecretRequest[] {
  return [{ name, version, ...(value === undefined ? {} : { generate: () => new Sensitive(value) }) }];
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
    let other: SecretManager;
    beforeAll(async () => {
      world = await makeWorld();
      [manager, other] = world.managers;
    }, 60_000);
    afterAll(() => world.stop(), 30_000);

    test("makes what is absent, in the version that was asked for", async () => {
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
      const again = await other.ensure(owner, wanted("A").requests);
      expect(revealed(again)).toEqual(revealed(first));
    });

    test("adds what is new beside it", async () => {
      const owner = newOwner();
      const first = await manager.ensure(owner, wanted("A").requests);
      const more = await manager.ensure(owner, wanted("A", "B").requests);
      expect(revealed(more)).toEqual({ ...revealed(first), B: expect.stringMatching(/^B-/) });
      expect(revealed(await manager.ensure(owner, wanted("B").requests))).toEqual({ B: revealed(more).B });
    });

    test("makes nothing when nothing is asked for", async () => {
      const owner = newOwner();
      expect(await manager.ensure(owner, [])).toEqual(new Map());
      expect(await manager.holdsAny(owner, [])).toBe(false);
    });

    test("tells variables apart by case", async () => {
      const values = revealed(await manager.ensure(newOwner(), wanted("Key", "KEY", "key", "k_e_y").requests));
      expect(Object.entries(values).every(([variable, value]) => value.startsWith(`${variable}-`))).toBe(true);
    });

    test("holds fifty variables with names as long as they may be", async () => {
      const owner = newOwner("a".repeat(50));
      const names = Array.from({ length: 50 }, (_, index) => `V${String(index).padStart(127, "_")}`);
      const made = await manager.ensure(owner, wanted(...names).requests);
      expect(made.size).toBe(50);
      expect(revealed(await other.ensure(owner, wanted(...names).requests))).toEqual(revealed(made));
      await manager.remove(owner, []);
      expect(await other.holdsAny(owner, [])).toBe(false);
    });

    test.each([
      ["make all of it", []],
      ["add to what is there", ["A"]],
    ])("gives everybody the same when many %s at once", async (_what, before) => {
      const owner = newOwner();
      if (before.length > 0) await manager.ensure(owner, wanted(...before).requests);
      const all = await Promise.all(
        Array.from({ length: 8 }, (_, i) => (i % 2 ? other : manager).ensure(owner, wanted("A", "B").requests)),
      );
      const kept = revealed(await manager.ensure(owner, wanted("A", "B").requests));
      for (const stored of all) expect(revealed(stored)).toEqual(kept);
    });

    describe("versions", () => {
      test("a new version stands beside the old one", async () => {
        const owner = newOwner();
        await manager.ensure(owner, [...asked("A", 1, "a1"), ...asked("B", 1, "b1")]);
        const rotated = await manager.ensure(owner, [...asked("A", 2, "a2"), ...asked("B", 1, "new")]);
        expect(revealed(rotated)).toEqual({ A: "a2", B: "b1" });
        expect(rotated.get("A")?.version).toBe(2);
        expect(revealed(await other.ensure(owner, asked("A", 1)))).toEqual({ A: "a1" });
        expect(revealed(await other.ensure(owner, asked("A", 2, "again")))).toEqual({ A: "a2" });
      });

      test("many may follow each other, and each is answered exactly", async () => {
        const owner = newOwner();
        for (let version = 1; version <= 12; version++) await manager.ensure(owner, asked("A", version, `a${version}`));
        for (const version of [1, 2, 9, 10, 12]) {
          expect(revealed(await other.ensure(owner, asked("A", version)))).toEqual({ A: `a${version}` });
        }
      });

      test("everybody who makes a next version at once gets the same one", async () => {
        const owner = newOwner();
        await Promise.all([0, 1, 2, 3].map((i) => (i % 2 ? other : manager).ensure(owner, asked("A", 1, `a1-${i}`))));
        const all = await Promise.all(
          [0, 1, 2, 3].map((i) => (i % 2 ? other : manager).ensure(owner, asked("A", 2, `a2-${i}`))),
        );
        const kept = revealed(await manager.ensure(owner, asked("A", 2)));
        expect(kept).toEqual({ A: expect.stringMatching(/^a2-/) });
        for (const stored of all) expect(revealed(stored)).toEqual(kept);
      });

      test("what lost the race for a version is never taken for the next one", async () => {
        const owner = newOwner();
        await Promise.all([0, 1, 2, 3].map((i) => (i % 2 ? other : manager).ensure(owner, asked("A", 1, `a1-${i}`))));
        expect(await manager.ensure(owner, asked("A", 2))).toEqual(new Map());
        expect(revealed(await manager.ensure(owner, asked("A", 2, "a2")))).toEqual({ A: "a2" });
      });

      test("a version may be made although the one before was never there", async () => {
        const owner = newOwner();
        expect(revealed(await manager.ensure(owner, asked("A", 3, "a3")))).toEqual({ A: "a3" });
        expect(await other.ensure(owner, asked("A", 2))).toEqual(new Map());
        expect(revealed(await other.ensure(owner, asked("A", 3)))).toEqual({ A: "a3" });
        expect(revealed(await other.ensure(owner, asked("A", 1, "a1")))).toEqual({ A: "a1" });
      });
    });

    describe("values that somebody else provides", () => {
      test("are left out until they are there", async () => {
        const owner = newOwner();
        expect(await manager.ensure(owner, asked("P", 1))).toEqual(new Map());
        expect(await manager.holdsAny(owner, [])).toBe(false);
        const mixed = [...wanted("A").requests, ...asked("P", 1)];
        expect([...(await manager.ensure(owner, mixed)).keys()]).toEqual(["A"]);
        await other.ensure(owner, asked("P", 1, "given"));
        expect(revealed(await manager.ensure(owner, asked("P", 1)))).toEqual({ P: "given" });
      });

      test("survive that both sides begin at once", async () => {
        const owner = newOwner();
        await Promise.all([
          manager.ensure(owner, [...wanted("A").requests, ...asked("P", 1)]),
          other.ensure(owner, asked("P", 1, "given")),
        ]);
        const stored = revealed(await manager.ensure(owner, [...asked("A", 1), ...asked("P", 1)]));
        expect(stored).toEqual({ A: expect.stringMatching(/^A-/), P: "given" });
      });
    });

    describe("shared secrets", () => {
      const id = () => `shared-${randomUUID()}`;

      test("show their labels, and their values by version", async () => {
        const secret = { id: id(), labels: { team: "shop" }, values: ["one", "two", "three"] };
        await world.share(secret);
        expect((await manager.shared(secret.id))?.labels).toMatchObject({ team: "shop" });
        const latest = await manager.read(secret.id, "latest");
        expect([latest?.version, latest?.value.reveal()]).toEqual([3, "three"]);
        const second = await manager.read(secret.id, 2);
        expect([second?.version, second?.value.reveal()]).toEqual([2, "two"]);
        expect(await manager.read(secret.id, 4)).toBeUndefined();
      });

      test("may have no version yet", async () => {
        const secret = { id: id(), labels: {}, values: [] };
        await world.share(secret);
        expect(await manager.shared(secret.id)).toBeDefined();
        expect(await manager.read(secret.id, "latest")).toBeUndefined();
      });

      test("are never an environment's", async () => {
        const owner = newOwner();
        await manager.ensure(owner, wanted("A").requests);
        expect(await manager.shared(world.idOf(owner, "A"))).toBeUndefined();
      });

      test.each([
        "absent",
        "",
        ".",
        "..",
        "../../projects/other/secrets/x",
        "a/versions/1",
        "a?b=c",
        "a b",
        "ä",
        "a".repeat(256),
      ])("there is none called '%s'", async (name) => {
        expect(await manager.shared(name)).toBeUndefined();
        expect(await manager.read(name, "latest")).toBeUndefined();
      });

      test("stay when an owner of a like name goes", async () => {
        const owner = newOwner();
        const secret = { id: `${owner.name}-shared`, labels: {}, values: ["kept"] };
        await world.share(secret);
        await manager.ensure(owner, wanted("A").requests);
        await manager.remove(owner, []);
        expect((await manager.read(secret.id, 1))?.value.reveal()).toBe("kept");
      });
    });

    describe("owners", () => {
      test("are named with their UID and since when, once each, until their last entry is gone", async () => {
        const [owner, namesake] = [newOwner("same"), newOwner("same")];
        const before = Date.now();
        await manager.ensure(owner, wanted("A", "B").requests);
        await manager.ensure(namesake, wanted("A").requests);
        const ours = async () =>
          (await other.owners(nobody)).filter(({ uid }) => [owner.uid, namesake.uid].includes(uid));
        const held = await ours();
        expect(held.map(({ name, uid }) => ({ name, uid }))).toEqual(expect.arrayContaining([owner, namesake]));
        expect(held).toHaveLength(2);
        for (const { since, until } of held) {
          // Managers' timestamps have whole seconds.
          expect(since.getTime()).toBeGreaterThan(before - 1_500);
          expect(until.getTime()).toBeLessThan(Date.now() + 1_500);
        }
        await manager.remove(owner, []);
        expect((await ours()).map(({ uid }) => uid)).toEqual([namesake.uid]);
      });

      test("are told with the time of their oldest entry and of their youngest", async () => {
        const owner = newOwner();
        await manager.ensure(owner, wanted("A").requests);
        const oneSecondLater = Date.now() + 1_000;
        await until(() => Date.now() > oneSecondLater);
        await manager.ensure(owner, wanted("B").requests);
        const [held] = await other.owners((uid) => uid !== owner.uid);
        expect(Number(held?.until) - Number(held?.since)).toBeGreaterThanOrEqual(1_000);
      });

      test("are left out when the caller knows them", async () => {
        const [owner, known] = [newOwner(), newOwner()];
        for (const one of [owner, known]) await manager.ensure(one, wanted("A").requests);
        const uids = (await manager.owners((uid) => uid === known.uid)).map(({ uid }) => uid);
        expect(uids).toContain(owner.uid);
        expect(uids).not.toContain(known.uid);
      });

      test("are API tokens, too", async () => {
        const token = { name: "api-token--0123456789abcdef", uid: randomUUID() };
        await manager.ensure(token, wanted("TOKEN").requests);
        expect(await other.owners((uid) => uid !== token.uid)).toMatchObject([token]);
        await manager.remove(token, ["TOKEN"]);
        expect(await other.owners((uid) => uid !== token.uid)).toEqual([]);
      });

      test("don't count what is shared", async () => {
        await world.share({ id: `shared-${randomUUID()}`, labels: {}, values: ["x"] });
        for (const { name, uid } of await manager.owners(nobody)) {
          expect(name).not.toBe("");
          expect(uid).toMatch(/^[0-9a-f-]{36}$/);
        }
      });
    });

    test("gives an owner what others of a like name never see", async () => {
      const one = newOwner("foo");
      const twins = [newOwner("foo"), newOwner("foo-bar"), newOwner("fo")];
      const values = await Promise.all([one, ...twins].map((owner) => manager.ensure(owner, wanted("A").requests)));
      expect(new Set(values.map((stored) => revealed(stored).A)).size).toBe(4);
      await manager.remove(one, []);
      expect(await manager.holdsAny(one, [])).toBe(false);
      for (const [index, twin] of twins.entries()) {
        expect(await manager.holdsAny(twin, [])).toBe(true);
        expect(revealed(await manager.ensure(twin, wanted("A").requests))).toEqual(
          revealed(values[index + 1] ?? new Map()),
        );
      }
    });

    test("says whether it holds anything, and removes it as often as it is asked", async () => {
      const owner = newOwner();
      expect(await manager.holdsAny(owner, [])).toBe(false);
      await manager.remove(owner, []);
      await manager.ensure(owner, wanted("A", "B").requests);
      expect(await other.holdsAny(owner, [])).toBe(true);
      await Promise.all([manager.remove(owner, []), other.remove(owner, [])]);
      expect(await other.holdsAny(owner, [])).toBe(false);
      await manager.remove(owner, []);
    });

    test("keeps texts of every kind byte for byte, and shows none by mistake", async () => {
      const value = 'pässwörd "quoted" $VAR {{ x }}\n\t\u0000 𝄞';
      const owner = newOwner();
      await manager.ensure(owner, asked("A", 1, value));
      const stored = await other.ensure(owner, asked("A", 1));
      expect(revealed(stored)).toEqual({ A: value });
      expect(inspect(stored, { depth: 9 })).not.toContain("quoted");
      expect(JSON.stringify([...stored])).not.toContain("quoted");
    });
  });
}
