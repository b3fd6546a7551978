import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { ConfigSet, ConfigSetSpec } from "../../../crds/config-set.ts";
import { CREATED_BY_ANNOTATION } from "../../../crds/group.ts";
import type { ConfigSets } from "../../../operator/ports/config-sets.ts";
import { unique } from "../../support/plane/people.ts";

export interface ConfigSetsWorld {
  readonly configSets: ConfigSets;
  /** Changes or removes one as another client would, invisible to this process at first. */
  changeElsewhere(configSet: ConfigSet, spec: ConfigSetSpec): Promise<void>;
  removeElsewhere(configSet: ConfigSet): Promise<void>;
  stop(): Promise<void>;
}

const spec: ConfigSetSpec = {
  description: "x",
  env: [{ name: "LEVEL", value: "info" }],
  helmValues: { backend: { cache: { parts: [null, 1] } } },
};

export function configSetsSuite(name: string, makeWorld: () => Promise<ConfigSetsWorld>): void {
  describe(`ConfigSets: ${name}`, () => {
    let world: ConfigSetsWorld;
    beforeAll(async () => {
      world = await makeWorld();
    }, 60_000);
    afterAll(() => world.stop(), 60_000);

    const create = async (): Promise<ConfigSet> => {
      const made = await world.configSets.create(unique("suite-"), spec, "dev@example.test");
      if (made === "taken") throw new Error("a name of the test's own is taken");
      return made;
    };

    test("what was made is found at once, and listed, with who made it", async () => {
      const made = await create();
      expect(made).toMatchObject({ spec, metadata: { generation: 1 } });
      expect(made.metadata.annotations).toEqual({ [CREATED_BY_ANNOTATION]: "dev@example.test" });
      expect(world.configSets.find(made.metadata.name)).toMatchObject({ spec });
      expect(world.configSets.list().map(({ metadata }) => metadata.uid)).toContain(made.metadata.uid);
    });

    test("a name is given once", async () => {
      const { metadata } = await create();
      expect(await world.configSets.create(metadata.name, {}, "other")).toBe("taken");
      expect(world.configSets.find(metadata.name)).toMatchObject({ spec });
    });

    test("the whole spec is replaced, as a new version that is found at once", async () => {
      const made = await create();
      const changed = { ttlDefaultHours: 3 };
      expect(await world.configSets.replace(made, changed)).toMatchObject({ metadata: { generation: 2 } });
      expect(world.configSets.find(made.metadata.name)?.spec).toEqual(changed);
    });

    test("the same again is no new version", async () => {
      const made = await create();
      expect(await world.configSets.replace(made, spec)).toMatchObject({ metadata: { generation: 1 } });
    });

    test("what another client changed meanwhile is replaced, too", async () => {
      const made = await create();
      await world.changeElsewhere(made, { ttlDefaultHours: 2 });
      const replaced = await world.configSets.replace(made, { ttlDefaultHours: 3 });
      expect(replaced).toMatchObject({ metadata: { generation: 3 }, spec: { ttlDefaultHours: 3 } });
    });

    test("one that is gone is not made anew", async () => {
      const made = await create();
      await world.removeElsewhere(made);
      expect(await world.configSets.replace(made, {})).toBe("gone");
      await world.configSets.create(made.metadata.name, {}, "other");
      expect(await world.configSets.replace(made, { ttlDefaultHours: 3 })).toBe("gone");
      expect(world.configSets.find(made.metadata.name)).toMatchObject({ metadata: { generation: 1 }, spec: {} });
    });

    test("what was removed is gone at once", async () => {
      const made = await create();
      await world.configSets.remove(made);
      expect(world.configSets.find(made.metadata.name)).toBeUndefined();
      await world.configSets.remove(made);
    });

    test("a removal is of that one, never of another of its name", async () => {
      const made = await create();
      await world.removeElsewhere(made);
      await world.configSets.create(made.metadata.name, {}, "other");
      await world.configSets.remove(made);
      expect(world.configSets.find(made.metadata.name)).toMatchObject({ metadata: { generation: 1 }, spec: {} });
    });
  });
}
