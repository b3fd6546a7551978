import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { RepositoryReloads } from "../../../operator/ports/repositories.ts";
import { unique } from "../../support/plane/people.ts";

export interface ReloadsWorld {
  readonly reloads: RepositoryReloads;
  register(name: string): Promise<void>;
  change(name: string): Promise<void>;
  unregister(name: string): Promise<void>;
  /** Makes the host of this Repository unreachable, or reachable again. */
  setAway(name: string, isAway: boolean): void;
  stop(): Promise<void>;
}

export function repositoryReloadsSuite(name: string, makeWorld: () => Promise<ReloadsWorld>): void {
  describe(`RepositoryReloads: ${name}`, () => {
    let world: ReloadsWorld;
    beforeAll(async () => {
      world = await makeWorld();
      await world.reloads.reload();
    }, 60_000);
    afterAll(() => world.stop(), 60_000);

    const registered = async () => {
      const id = unique("reload-");
      await world.register(id);
      return id;
    };

    test("what is new is added, once", async () => {
      const id = await registered();
      expect(await world.reloads.reload()).toMatchObject({ added: [id], updated: [], removed: [], errors: [] });
      expect(await world.reloads.reload()).toMatchObject({ added: [], updated: [], removed: [], errors: [] });
    });

    test("what changed is updated", async () => {
      const id = await registered();
      await world.reloads.reload();
      await world.change(id);
      expect(await world.reloads.reload()).toMatchObject({ added: [], updated: [id], removed: [] });
    });

    test("what is gone is removed, and no longer counted", async () => {
      const id = await registered();
      const { loaded } = await world.reloads.reload();
      await world.unregister(id);
      expect(await world.reloads.reload()).toMatchObject({ added: [], removed: [id], loaded: loaded - 1 });
    });

    test("what can't be reached is an error, and added when it can", async () => {
      const id = await registered();
      world.setAway(id, true);
      const errors = [{ name: id, message: expect.stringContaining("can't be asked") }];
      expect(await world.reloads.reload()).toMatchObject({ added: [], errors });
      world.setAway(id, false);
      expect(await world.reloads.reload()).toMatchObject({ added: [id], errors: [] });
    });

    test("what can't be reached for a while is neither removed nor new", async () => {
      const id = await registered();
      await world.reloads.reload();
      world.setAway(id, true);
      expect(await world.reloads.reload()).toMatchObject({ removed: [], errors: [{ name: id }] });
      await world.change(id);
      world.setAway(id, false);
      expect(await world.reloads.reload()).toMatchObject({ added: [], updated: [id], errors: [] });
    });

    test("two at once get an answer each", async () => {
      const id = await registered();
      const both = await Promise.all([world.reloads.reload(), world.reloads.reload()]);
      expect(both.map(({ added }) => added)).toContainEqual([id]);
    });
  });
}
