import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import {
  type EnvironmentSpec,
  type EphemeralEnvironment,
  reconcileToken,
} from "../../../crds/environment/ephemeral-environment.ts";
import { creationMark } from "../../../crds/environment/idempotency-record.ts";
import { expiresAt } from "../../../crds/environment/lifetime.ts";
import { EnvironmentConflict, EnvironmentNotFound, NameExists } from "../../../crds/errors.ts";
import { EXTENSION_NOTE_ANNOTATION } from "../../../crds/group.ts";
import type { EnvironmentQuery, Environments } from "../../../operator/ports/facade/environments.ts";
import { unique } from "../../support/faults/people.ts";

/** An adapter with the rest of the world around it. */
export interface EnvironmentsWorld {
  readonly environments: Environments;
  /** Takes hold of an environment as the operator does, so that a deletion waits for `release`. */
  hold(environment: EphemeralEnvironment): Promise<void>;
  /** Whether passes that are asked for are answered, as the operator does. */
  setOperating(isOperating: boolean): void;
  /** Lets an environment that is being deleted go. */
  release(environment: EphemeralEnvironment): Promise<void>;
  /** Removes what the tests made. */
  stop(): Promise<void>;
}

const spec: EnvironmentSpec = {
  ttlHours: 24,
  backend: { repository: "sample-backend", branch: "main" },
  access: { groups: ["team"] },
  trigger: { kind: "api" },
};
/** A control plane of one's own starts and stops in seconds, on a busy machine in more. */
const WORLD_DEADLINE_MS = 60_000;
const PASS_DEADLINE_MS = 20_000;
const NO_ONES_ID = "00000000-0000-4000-8000-000000000000";

/** What every adapter of the Environments port keeps to; run on each of them, so that they can't drift apart. */
export function environmentsSuite(name: string, makeWorld: () => Promise<EnvironmentsWorld>): void {
  describe(`Environments: ${name}`, () => {
    let world: EnvironmentsWorld;
    beforeAll(async () => {
      world = await makeWorld();
    }, WORLD_DEADLINE_MS);
    afterAll(() => world.stop(), WORLD_DEADLINE_MS);

    const create = (more: Partial<EnvironmentSpec> = {}) =>
      world.environments.create(unique("suite-"), { ...spec, ...more });
    const createHeld = async (more: Partial<EnvironmentSpec> = {}) => {
      const made = await create(more);
      await world.hold(made);
      return found(made.metadata.uid);
    };
    const found = async (idOrName: string) => {
      const environment = await world.environments.find(idOrName);
      if (environment === undefined) throw new Error(`no environment ${idOrName}`);
      return environment;
    };

    test("what was made is found at once, by id and by name, and listed", async () => {
      const made = await create();
      const { name: ownName, uid } = made.metadata;
      expect(made).toMatchObject({ spec, metadata: { uid: expect.stringMatching(/^[0-9a-f-]{36}$/), generation: 1 } });
      expect(Date.parse(made.metadata.creationTimestamp)).not.toBeNaN();
      expect((await found(uid)).metadata.name).toBe(ownName);
      expect((await found(ownName)).metadata.uid).toBe(uid);
      expect(world.environments.list().map(({ metadata }) => metadata.uid)).toContain(uid);
    });

    test("what does not exist is not found", async () => {
      expect(await world.environments.find(NO_ONES_ID)).toBeUndefined();
      expect(await world.environments.find(unique("absent-"))).toBeUndefined();
    });

    test("the list is the caller's to sort and cut", async () => {
      const { metadata } = await create();
      world.environments.list().splice(0);
      expect(world.environments.list().map(({ metadata: { uid } }) => uid)).toContain(metadata.uid);
    });

    describe("a page", () => {
      const everything = { isVisible: () => true };
      const owner = (subject: string) => ({ subject, email: `${subject}@example.test`, name: subject });
      /** Two environments that a text finds and no others. */
      const pair = async () => {
        const search = unique("part-");
        const made = async (subject: string) => {
          const own = { ...spec, owner: owner(subject) };
          return (await world.environments.create(unique(`${search}-`), own)).metadata;
        };
        return { search, one: await made("one"), other: await made("other") };
      };
      const named = (query: EnvironmentQuery) =>
        world.environments.page(query).items.map(({ metadata }) => metadata.name);

      test("has the newest first, those of the same second by name, and counts what is on no page", async () => {
        const { search, one, other } = await pair();
        const isLater = one.creationTimestamp < other.creationTimestamp;
        const isSame = one.creationTimestamp === other.creationTimestamp;
        const order = isLater || (isSame && other.name < one.name) ? [other.name, one.name] : [one.name, other.name];
        expect(named({ ...everything, search })).toEqual(order);
        expect(named({ ...everything, search, offset: 1, limit: 5 })).toEqual(order.slice(1));
        expect(named({ ...everything, search, limit: 1 })).toEqual(order.slice(0, 1));
        const beyond = world.environments.page({ ...everything, search, offset: 9 });
        expect(beyond).toEqual({ items: [], total: 2 });
      });

      test("has what its query asks for", async () => {
        const { search, one, other } = await pair();
        const total = (more: Partial<EnvironmentQuery>) =>
          world.environments.page({ ...everything, search, ...more }).total;
        expect(named({ search, isVisible: (rights) => rights.owner?.subject === "other" })).toEqual([other.name]);
        expect(total({ isVisible: (rights) => rights.access?.groups.includes("team") ?? false })).toBe(2);
        expect([total({ phase: "creating" }), total({ phase: "ready" })]).toEqual([2, 0]);
        // Names are no lines of one text.
        expect([total({ search: one.name }), total({ search: `${one.name}\n` })]).toEqual([1, 0]);
        const firstMs = Date.parse(one.creationTimestamp);
        expect([total({ createdFromMs: firstMs }), total({ createdBeforeMs: firstMs })]).toEqual([2, 0]);
      });

      test("shows a deletion at once", async () => {
        const { search, one, other } = await pair();
        await world.hold(await found(one.uid));
        await world.environments.remove(await found(one.uid));
        expect(named({ ...everything, search, phase: "terminating" })).toEqual([one.name]);
        expect(named({ ...everything, search, phase: "creating" })).toEqual([other.name]);
      });
    });

    test("those are counted of which something holds", async () => {
      const configSet = { name: unique("set-") };
      const uses = (one: EphemeralEnvironment) => one.spec.configSet?.name === configSet.name;
      expect(await world.environments.countNow(uses)).toBe(0);
      await create({ configSet });
      await create({ configSet });
      await create();
      expect(await world.environments.countNow(uses)).toBe(2);
    });

    test("a name is taken once, also by two at the same moment", async () => {
      const ownName = unique("suite-");
      const both = await Promise.allSettled([
        world.environments.create(ownName, spec),
        world.environments.create(ownName, spec),
      ]);
      expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      const refused = both.find((one) => one.status === "rejected");
      expect(refused?.reason).toBeInstanceOf(NameExists);
      expect(refused?.reason).toMatchObject({ environmentName: ownName, retryAfterSeconds: undefined });
    });

    test("a name that is being given up says when to try again, and is free afterwards", async () => {
      const made = await createHeld();
      const { name: ownName, uid } = made.metadata;
      await world.environments.remove(made);
      await expect(world.environments.create(ownName, spec)).rejects.toMatchObject({
        retryAfterSeconds: expect.any(Number),
      });
      await world.release(await found(uid));
      const successor = await world.environments.create(ownName, spec);
      expect(successor.metadata.uid).not.toBe(uid);
    });

    describe("a request with a key", () => {
      const made = async () => {
        const mark = { key: unique("key"), request: "what-was-asked" };
        return { mark, environment: await world.environments.create(unique("suite-"), spec, mark) };
      };

      test("finds what it made, when it comes again", async () => {
        const { mark, environment } = await made();
        expect(creationMark(environment)).toEqual(mark);
        expect(world.environments.madeWith(mark.key)?.metadata.uid).toBe(environment.metadata.uid);
        const again = await world.environments.create(environment.metadata.name, spec, { ...mark, request: "other" });
        expect(again.metadata.uid).toBe(environment.metadata.uid);
        expect(creationMark(again)).toEqual(mark);
      });

      test("makes one environment, also when it comes twice at the same moment", async () => {
        const mark = { key: unique("key"), request: "r" };
        const name = unique("suite-");
        const both = await Promise.all([
          world.environments.create(name, spec, mark),
          world.environments.create(name, spec, mark),
        ]);
        expect(new Set(both.map(({ metadata }) => metadata.uid)).size).toBe(1);
      });

      test("finds nothing of other requests, and they find the name taken", async () => {
        const { environment } = await made();
        const { name: ownName } = environment.metadata;
        const other = { key: unique("key"), request: "what-was-asked" };
        expect(world.environments.madeWith(other.key)).toBeUndefined();
        await expect(world.environments.create(ownName, spec, other)).rejects.toBeInstanceOf(NameExists);
        await expect(world.environments.create(ownName, spec)).rejects.toBeInstanceOf(NameExists);
      });

      test("finds what it made until that is gone, and makes another one then", async () => {
        const { mark, environment } = await made();
        await world.hold(environment);
        await world.environments.remove(environment);
        const leaving = await world.environments.create(environment.metadata.name, spec, mark);
        expect(leaving.metadata).toMatchObject({
          uid: environment.metadata.uid,
          deletionTimestamp: expect.any(String),
        });
        await world.release(environment);
        const next = await world.environments.create(environment.metadata.name, spec, mark);
        expect(next.metadata.uid).not.toBe(environment.metadata.uid);
      });
    });

    test("what is read again is as it is now, and nothing when only its name lives on", async () => {
      const made = await createHeld();
      const extended = await world.environments.extend(made, { ttlHours: 48 });
      expect((await world.environments.reread(made))?.metadata.resourceVersion).toBe(extended.metadata.resourceVersion);
      await world.environments.remove(made);
      await world.release(await found(made.metadata.uid));
      await world.environments.create(made.metadata.name, spec);
      expect(await world.environments.reread(made)).toBeUndefined();
    });

    describe("a pass that is asked for", () => {
      const tokenOf = async ({ metadata }: EphemeralEnvironment) => reconcileToken(await found(metadata.uid));
      afterEach(() => world.setOperating(false));

      test("is waited for until the status answers it", async () => {
        const made = await create();
        world.setOperating(true);
        const { state, environment } = await world.environments.reconcile(made, { withinMs: PASS_DEADLINE_MS });
        expect(state).toBe("answered");
        expect(environment.metadata.uid).toBe(made.metadata.uid);
        expect(environment.status?.lastHandledReconcileAt).toEqual(await tokenOf(made));
        expect(environment.spec).toEqual(made.spec);
      });

      test("goes on when it takes longer than is waited", async () => {
        const made = await create();
        const { state } = await world.environments.reconcile(made, { withinMs: 20 });
        expect(state).toBe("pending");
        expect(await tokenOf(made)).toEqual(expect.any(String));
      });

      test("serves all who ask at the same time, or soon after, on whatever version", async () => {
        const made = await create();
        const ask = () => world.environments.reconcile(made, { withinMs: 20 });
        const first = await Promise.all([ask(), ask(), ask()]);
        const token = await tokenOf(made);
        const { resourceVersion } = (await found(made.metadata.uid)).metadata;
        await ask();
        expect(first.map(({ environment }) => reconcileToken(environment))).toEqual([token, token, token]);
        expect((await found(made.metadata.uid)).metadata.resourceVersion).toBe(resourceVersion);
      });

      test("is one over what is being deleted, too", async () => {
        const made = await createHeld();
        await world.environments.remove(made);
        world.setOperating(true);
        const asked = await world.environments.reconcile(made, { withinMs: PASS_DEADLINE_MS });
        expect(asked).toMatchObject({
          state: "answered",
          environment: { metadata: { deletionTimestamp: expect.any(String) } },
        });
      });

      test("is none over what is gone, even when its name lives on", async () => {
        const made = await createHeld();
        await world.environments.remove(made);
        await world.release(await found(made.metadata.uid));
        const successor = await world.environments.create(made.metadata.name, spec);
        const asking = world.environments.reconcile(made, { withinMs: 20 });
        await expect(asking).rejects.toBeInstanceOf(EnvironmentNotFound);
        expect(await tokenOf(successor)).toBeUndefined();
      });
    });

    test("an extension moves the TTL, keeps its own note, and leaves all else", async () => {
      const made = await create();
      const extended = await world.environments.extend(made, { ttlHours: 48, note: "why" });
      expect(extended.spec).toEqual({ ...made.spec, ttlHours: 48 });
      expect(extended.metadata.annotations).toMatchObject({ [EXTENSION_NOTE_ANNOTATION]: "why" });
      expect((await found(made.metadata.uid)).spec.ttlHours).toBe(48);
      const again = await world.environments.extend(extended, { ttlHours: 72 });
      expect(again.metadata.annotations ?? {}).not.toHaveProperty([EXTENSION_NOTE_ANNOTATION]);
    });

    test("an extension of one expiry is made once, also by many at the same moment", async () => {
      const made = await create();
      const extend = () => world.environments.extend(made, { ttlHours: 48, onlyFrom: expiresAt(made) });
      const outcomes = await Promise.allSettled([extend(), extend(), extend()]);
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const one of outcomes) {
        if (one.status === "rejected") expect(one.reason).toBeInstanceOf(EnvironmentConflict);
      }
      await expect(extend()).rejects.toBeInstanceOf(EnvironmentConflict);
      expect((await found(made.metadata.uid)).spec.ttlHours).toBe(48);
    });

    test("many changes at the same moment are all made", async () => {
      const made = await create();
      const hours = Array.from({ length: 12 }, (_, index) => 48 + index);
      const changed = await Promise.all(hours.map((ttlHours) => world.environments.extend(made, { ttlHours })));
      expect(changed.map(({ spec: { ttlHours } }) => ttlHours)).toEqual(hours);
    });

    test("a switch is turned, and leaves all else as it is", async () => {
      const made = await create();
      const guarded = await world.environments.setSwitches(made, { protected: true });
      expect(guarded.spec).toEqual({ ...made.spec, protected: true });
      const asleep = await world.environments.setSwitches(guarded, { suspended: true });
      expect(asleep.spec).toEqual({ ...made.spec, protected: true, suspended: true });
      await world.environments.setSwitches(asleep, { protected: false });
      expect((await found(made.metadata.uid)).spec).toEqual({ ...made.spec, protected: false, suspended: true });
    });

    test("a switch is turned on an older version too, and both changes hold", async () => {
      const made = await create();
      await world.environments.extend(made, { ttlHours: 48 });
      const turned = await world.environments.setSwitches(made, { suspended: true });
      expect(turned.spec).toMatchObject({ ttlHours: 48, suspended: true });
    });

    test("no switch is turned on what is being deleted, or gone", async () => {
      const made = await createHeld();
      await world.environments.remove(made);
      await expect(world.environments.setSwitches(made, { suspended: true })).rejects.toBeInstanceOf(
        EnvironmentConflict,
      );
      await world.release(await found(made.metadata.uid));
      await expect(world.environments.setSwitches(made, { suspended: true })).rejects.toBeInstanceOf(
        EnvironmentNotFound,
      );
    });

    test("an extension of an older version is still one", async () => {
      const made = await create();
      await world.environments.extend(made, { ttlHours: 48 });
      expect((await world.environments.extend(made, { ttlHours: 72 })).spec.ttlHours).toBe(72);
    });

    test("what is being deleted can't be extended", async () => {
      const made = await createHeld();
      await world.environments.remove(made);
      await expect(world.environments.extend(made, { ttlHours: 48 })).rejects.toBeInstanceOf(EnvironmentConflict);
    });

    test("what is gone can't be extended, even when its name lives on", async () => {
      const made = await createHeld();
      await world.environments.remove(made);
      await world.release(await found(made.metadata.uid));
      await expect(world.environments.extend(made, { ttlHours: 48 })).rejects.toBeInstanceOf(EnvironmentNotFound);
      const successor = await world.environments.create(made.metadata.name, spec);
      await expect(world.environments.extend(made, { ttlHours: 48 })).rejects.toBeInstanceOf(EnvironmentNotFound);
      expect((await found(successor.metadata.uid)).spec.ttlHours).toBe(24);
    });

    test("a removal shows at once and may be asked for again", async () => {
      const made = await createHeld();
      expect(await world.environments.remove(made)).toBe("removing");
      expect((await found(made.metadata.uid)).metadata.deletionTimestamp).toEqual(expect.any(String));
      expect(await world.environments.remove(made)).toBe("removing");
    });

    test("a removal of what is gone never touches the one that has its name now", async () => {
      const made = await createHeld();
      await world.environments.remove(made);
      await world.release(await found(made.metadata.uid));
      const successor = await world.environments.create(made.metadata.name, spec);
      expect(await world.environments.remove(made)).toBe("removing");
      expect((await found(successor.metadata.uid)).metadata).not.toHaveProperty("deletionTimestamp");
    });

    test("a removal of one version is not one of the next", async () => {
      const made = await createHeld();
      await world.environments.extend(made, { ttlHours: 48 });
      expect(await world.environments.remove(made, { onlyThisVersion: true })).toBe("changed");
      const current = await found(made.metadata.uid);
      expect(current.metadata).not.toHaveProperty("deletionTimestamp");
      expect(await world.environments.remove(current, { onlyThisVersion: true })).toBe("removing");
    });

    test("what is protected stays", async () => {
      const made = await create({ protected: true });
      await expect(world.environments.remove(made)).rejects.toBeInstanceOf(EnvironmentConflict);
      expect((await found(made.metadata.uid)).metadata).not.toHaveProperty("deletionTimestamp");
    });
  });
}
