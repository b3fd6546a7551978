import { describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import type { EnvironmentQuery } from "../../../../operator/ports/api/environments.ts";
import { unique } from "../../../support/plane/people.ts";
import { type EnvironmentsScene, NO_ONES_ID, spec } from "./scene.ts";

/** Tests of finding, listing and counting. */
export function readingEnvironments(scene: EnvironmentsScene): void {
  const { create, found } = scene;

  test("what was made is found at once, by id and by name, and listed", async () => {
    const made = await create();
    const { name: ownName, uid } = made.metadata;
    expect(made).toMatchObject({ spec, metadata: { uid: expect.stringMatching(/^[0-9a-f-]{36}$/), generation: 1 } });
    expect(Date.parse(made.metadata.creationTimestamp)).not.toBeNaN();
    expect((await found(uid)).metadata.name).toBe(ownName);
    expect((await found(ownName)).metadata.uid).toBe(uid);
    expect(scene.world.environments.list().map(({ metadata }) => metadata.uid)).toContain(uid);
  });

  test("what does not exist is not found", async () => {
    expect(await scene.world.environments.find(NO_ONES_ID)).toBeUndefined();
    expect(await scene.world.environments.find(unique("absent-"))).toBeUndefined();
  });

  test("the list is the caller's to sort and cut", async () => {
    const { metadata } = await create();
    scene.world.environments.list().splice(0);
    expect(scene.world.environments.list().map(({ metadata: { uid } }) => uid)).toContain(metadata.uid);
  });

  describe("a page", () => {
    const everything = { isVisible: () => true };
    const owner = (subject: string) => ({ subject, email: `${subject}@example.test`, name: subject });
    /** Two environments that a text finds and no others. */
    const pair = async () => {
      const search = unique("part-");
      const made = async (subject: string) => {
        const own = { ...spec, owner: owner(subject) };
        return (await scene.world.environments.create(unique(`${search}-`), own)).metadata;
      };
      return { search, one: await made("one"), other: await made("other") };
    };
    const named = (query: EnvironmentQuery) =>
      scene.world.environments.page(query).items.map(({ metadata }) => metadata.name);

    test("has the newest first, those of the same second by name, and counts what is on no page", async () => {
      const { search, one, other } = await pair();
      const isLater = one.creationTimestamp < other.creationTimestamp;
      const isSame = one.creationTimestamp === other.creationTimestamp;
      const order = isLater || (isSame && other.name < one.name) ? [other.name, one.name] : [one.name, other.name];
      expect(named({ ...everything, search })).toEqual(order);
      expect(named({ ...everything, search, offset: 1, limit: 5 })).toEqual(order.slice(1));
      expect(named({ ...everything, search, limit: 1 })).toEqual(order.slice(0, 1));
      const beyond = scene.world.environments.page({ ...everything, search, offset: 9 });
      expect(beyond).toEqual({ items: [], total: 2 });
    });

    test("has what its query asks for", async () => {
      const { search, one, other } = await pair();
      const total = (more: Partial<EnvironmentQuery>) =>
        scene.world.environments.page({ ...everything, search, ...more }).total;
      expect(named({ search, isVisible: (rights) => rights.owner?.subject === "other" })).toEqual([other.name]);
      expect(total({ isVisible: (rights) => rights.access?.groups.includes("team") ?? false })).toBe(2);
      expect([total({ phase: "creating" }), total({ phase: "ready" })]).toEqual([2, 0]);
      // Names are not lines of one text.
      expect([total({ search: one.name }), total({ search: `${one.name}\n` })]).toEqual([1, 0]);
      const firstMs = Date.parse(one.creationTimestamp);
      expect([total({ createdFromMs: firstMs }), total({ createdBeforeMs: firstMs })]).toEqual([2, 0]);
    });

    test("shows a suspension among what is asleep", async () => {
      const { search, one, other } = await pair();
      await scene.world.environments.update(await found(one.uid), { suspended: true });
      expect(named({ ...everything, search, sleep: "asleep" })).toEqual([one.name]);
      expect(named({ ...everything, search, sleep: "awake" })).toEqual([other.name]);
    });

    test("shows a deletion at once", async () => {
      const { search, one, other } = await pair();
      await scene.world.hold(await found(one.uid));
      await scene.world.environments.remove(await found(one.uid));
      expect(named({ ...everything, search, phase: "terminating" })).toEqual([one.name]);
      expect(named({ ...everything, search, phase: "creating" })).toEqual([other.name]);
    });
  });

  test("those are counted of which something holds", async () => {
    const configSet = { name: unique("set-") };
    const uses = (one: EphemeralEnvironment) => one.spec.configSet?.name === configSet.name;
    expect(await scene.world.environments.countNow(uses)).toBe(0);
    await create({ configSet });
    await create({ configSet });
    await create();
    expect(await scene.world.environments.countNow(uses)).toBe(2);
  });
}
