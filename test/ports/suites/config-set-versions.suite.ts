import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type ConfigSetVersion, revisionName } from "../../../crds/config-set.ts";
import type { ConfigSetVersions } from "../../../operator/ports/config-sets.ts";

/** The storage of versions for one process; the test moves time. */
export interface ConfigSetVersionsScene {
  readonly versions: ConfigSetVersions;
  /** Makes all marks and creations so far old. */
  passTime(): void;
  stop(): Promise<void>;
}

let count = 0;
export function newVersion(level = "info"): ConfigSetVersion {
  count += 1;
  return { name: `set-${count}`, version: 3, uid: randomUUID(), spec: { env: [{ name: "LEVEL", value: level }] } };
}

const used = async () => true;
const unused = async () => false;

export function configSetVersionsSuite(name: string, start: () => Promise<ConfigSetVersionsScene>): void {
  describe(`versions of config sets, ${name}`, () => {
    let scene: ConfigSetVersionsScene;
    beforeAll(async () => {
      scene = await start();
    }, 60_000);
    afterAll(() => scene.stop());

    test("are found as they were kept, at once", async () => {
      const version = newVersion();
      expect(scene.versions.find(revisionName(version))).toBeUndefined();
      await scene.versions.keep(version);
      expect(scene.versions.find(revisionName(version))).toEqual(version);
    });

    test("are kept once, however often it is asked", async () => {
      const version = newVersion();
      await scene.versions.keep(version);
      await scene.versions.keep({ ...version, spec: {} });
      expect(scene.versions.find(revisionName(version))).toEqual(version);
    });

    test("are kept apart from those of another config set of that name", async () => {
      const version = newVersion();
      const other = { ...version, uid: randomUUID(), spec: {} };
      await scene.versions.keep(version);
      await scene.versions.keep(other);
      expect(scene.versions.find(revisionName(version))).toEqual(version);
      expect(scene.versions.find(revisionName(other))).toEqual(other);
    });

    test("go when they have been unused for long, and not before", async () => {
      const version = newVersion();
      await scene.versions.keep(version);
      expect(await scene.versions.discard(revisionName(version), unused)).toMatchObject({ state: "noted" });
      scene.passTime();
      expect(await scene.versions.discard(revisionName(version), unused)).toMatchObject({ state: "noted" });
      expect(scene.versions.find(revisionName(version))).toEqual(version);
      scene.passTime();
      expect(await scene.versions.discard(revisionName(version), unused)).toEqual({ state: "gone" });
      expect(scene.versions.find(revisionName(version))).toBeUndefined();
      expect(await scene.versions.discard(revisionName(version), unused)).toEqual({ state: "gone" });
    });

    test("stay when the last question says that they are used", async () => {
      const version = newVersion();
      const revision = revisionName(version);
      await scene.versions.keep(version);
      scene.passTime();
      await scene.versions.discard(revision, unused);
      scene.passTime();
      expect(await scene.versions.discard(revision, used)).toEqual({ state: "used" });
      expect(scene.versions.find(revision)).toEqual(version);
      // The time starts again.
      expect(await scene.versions.discard(revision, unused)).toMatchObject({ state: "noted" });
    });

    test("stay when they are used while they are about to go", async () => {
      const version = newVersion();
      const revision = revisionName(version);
      await scene.versions.keep(version);
      scene.passTime();
      await scene.versions.discard(revision, unused);
      scene.passTime();
      const takenUpMeanwhile = async () => {
        await scene.versions.keep(version);
        return false;
      };
      expect(await scene.versions.discard(revision, takenUpMeanwhile)).toMatchObject({ state: "noted" });
      expect(scene.versions.find(revision)).toEqual(version);
    });
  });
}
