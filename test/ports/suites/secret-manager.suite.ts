import { describe } from "@jest/globals";
import { secretOwners } from "./secret-manager/owners.suite.ts";
import { type SecretManagerWorld, secretManagerScene } from "./secret-manager/scene.ts";
import { secretValues } from "./secret-manager/values.suite.ts";
import { secretVersions } from "./secret-manager/versions.suite.ts";

export function secretManagerSuite(name: string, makeWorld: () => Promise<SecretManagerWorld>): void {
  describe(`SecretManager: ${name}`, () => {
    const scene = secretManagerScene(makeWorld);
    secretValues(scene);
    secretVersions(scene);
    secretOwners(scene);
  });
}
