import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { UnknownNames } from "../../../operator/ports/api/unknown-names.ts";
import type { ConfigSetFinder } from "../../../operator/ports/config-sets.ts";
import type { RepositoryFinder } from "../../../operator/ports/repositories.ts";
import { unique } from "../../support/plane/people.ts";

/** A world whose watch delivers nothing. */
export interface UnknownNamesWorld {
  readonly unknownNames: UnknownNames;
  readonly repositories: RepositoryFinder;
  readonly configSets: ConfigSetFinder;
  register(name: string): Promise<void>;
  makeConfigSet(name: string): Promise<void>;
  advance(ms: number): void;
  stop(): Promise<void>;
}

export function unknownNamesSuite(name: string, makeWorld: () => Promise<UnknownNamesWorld>): void {
  describe(`UnknownNames: ${name}`, () => {
    let world: UnknownNamesWorld;
    beforeAll(async () => {
      world = await makeWorld();
    }, 60_000);
    afterAll(() => world.stop(), 60_000);

    test("a Repository that was not delivered is found after a look", async () => {
      const id = unique("late-");
      await world.register(id);
      expect(world.repositories.find(id)).toBeUndefined();
      await world.unknownNames.lookUp("repository", id);
      expect(world.repositories.find(id)?.metadata.name).toBe(id);
    });

    test("a config set that was not delivered is found after a look", async () => {
      const id = unique("late-");
      await world.makeConfigSet(id);
      expect(world.configSets.find(id)).toBeUndefined();
      await world.unknownNames.lookUp("configSet", id);
      expect(world.configSets.find(id)?.metadata.name).toBe(id);
    });

    test("an absent name is no error, and is asked for again after a second", async () => {
      const id = unique("late-");
      await world.unknownNames.lookUp("repository", id);
      await world.register(id);
      await world.unknownNames.lookUp("repository", id);
      expect(world.repositories.find(id)).toBeUndefined();
      world.advance(1_000);
      await world.unknownNames.lookUp("repository", id);
      expect(world.repositories.find(id)?.metadata.name).toBe(id);
    });
  });
}
