import { describe, expect, test } from "@jest/globals";
import { creationMark } from "../../../../crds/environment/idempotency-record.ts";
import { NameExists } from "../../../../crds/errors.ts";
import { unique } from "../../../support/plane/people.ts";
import { type EnvironmentsScene, spec } from "./scene.ts";

/** Tests of names and idempotent creations. */
export function creatingEnvironments(scene: EnvironmentsScene): void {
  const { createHeld, found } = scene;

  test("a name is taken once, also by two at the same moment", async () => {
    const ownName = unique("suite-");
    const both = await Promise.allSettled([
      scene.world.environments.create(ownName, spec),
      scene.world.environments.create(ownName, spec),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const refused = both.find((one) => one.status === "rejected");
    expect(refused?.reason).toBeInstanceOf(NameExists);
    expect(refused?.reason).toMatchObject({ environmentName: ownName, retryAfterSeconds: undefined });
  });

  test("a name that is being given up says when to try again, and is free afterwards", async () => {
    const made = await createHeld();
    const { name: ownName, uid } = made.metadata;
    await scene.world.environments.remove(made);
    await expect(scene.world.environments.create(ownName, spec)).rejects.toMatchObject({
      retryAfterSeconds: expect.any(Number),
    });
    await scene.world.release(await found(uid));
    const successor = await scene.world.environments.create(ownName, spec);
    expect(successor.metadata.uid).not.toBe(uid);
  });

  describe("a request with a key", () => {
    const made = async () => {
      const mark = { key: unique("key"), request: "what-was-asked" };
      return { mark, environment: await scene.world.environments.create(unique("suite-"), spec, mark) };
    };

    test("finds what it made, when it comes again", async () => {
      const { mark, environment } = await made();
      expect(creationMark(environment)).toEqual(mark);
      expect(scene.world.environments.madeWith(mark.key)?.metadata.uid).toBe(environment.metadata.uid);
      const again = await scene.world.environments.create(environment.metadata.name, spec, {
        ...mark,
        request: "other",
      });
      expect(again.metadata.uid).toBe(environment.metadata.uid);
      expect(creationMark(again)).toEqual(mark);
    });

    test("makes one environment, also when it comes twice at the same moment", async () => {
      const mark = { key: unique("key"), request: "r" };
      const name = unique("suite-");
      const both = await Promise.all([
        scene.world.environments.create(name, spec, mark),
        scene.world.environments.create(name, spec, mark),
      ]);
      expect(new Set(both.map(({ metadata }) => metadata.uid)).size).toBe(1);
    });

    test("finds nothing of other requests, and they find the name taken", async () => {
      const { environment } = await made();
      const { name: ownName } = environment.metadata;
      const other = { key: unique("key"), request: "what-was-asked" };
      expect(scene.world.environments.madeWith(other.key)).toBeUndefined();
      await expect(scene.world.environments.create(ownName, spec, other)).rejects.toBeInstanceOf(NameExists);
      await expect(scene.world.environments.create(ownName, spec)).rejects.toBeInstanceOf(NameExists);
    });

    test("finds what it made until that is gone, and makes another one then", async () => {
      const { mark, environment } = await made();
      await scene.world.hold(environment);
      await scene.world.environments.remove(environment);
      const leaving = await scene.world.environments.create(environment.metadata.name, spec, mark);
      expect(leaving.metadata).toMatchObject({
        uid: environment.metadata.uid,
        deletionTimestamp: expect.any(String),
      });
      await scene.world.release(environment);
      const next = await scene.world.environments.create(environment.metadata.name, spec, mark);
      expect(next.metadata.uid).not.toBe(environment.metadata.uid);
    });
  });
}
