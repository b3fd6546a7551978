import { describe } from "@jest/globals";
import { changingEnvironments } from "./environments/changes.suite.ts";
import { creatingEnvironments } from "./environments/creation.suite.ts";
import { followedEnvironments } from "./environments/followed.suite.ts";
import { passesOverEnvironments } from "./environments/passes.suite.ts";
import { readingEnvironments } from "./environments/reading.suite.ts";
import { type EnvironmentsWorld, environmentsScene } from "./environments/scene.ts";

export function environmentsSuite(name: string, makeWorld: () => Promise<EnvironmentsWorld>): void {
  describe(`Environments: ${name}`, () => {
    const scene = environmentsScene(makeWorld);
    readingEnvironments(scene);
    creatingEnvironments(scene);
    passesOverEnvironments(scene);
    changingEnvironments(scene);
    followedEnvironments(scene);
  });
}
