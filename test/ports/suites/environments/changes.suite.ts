import { expect, test } from "@jest/globals";
import { expiresAt } from "../../../../crds/environment/lifetime.ts";
import { EnvironmentConflict, EnvironmentNotFound } from "../../../../crds/errors.ts";
import { EXTENSION_NOTE_ANNOTATION, LAST_ACTIVITY_ANNOTATION, WAKE_ANNOTATION } from "../../../../crds/group.ts";
import { type EnvironmentsScene, spec } from "./scene.ts";

/** Tests of extensions, switches and removals. */
export function changingEnvironments(scene: EnvironmentsScene): void {
  const { create, createHeld, found } = scene;

  test("an extension moves the TTL, keeps its own note, and leaves all else", async () => {
    const made = await create();
    const extended = await scene.world.environments.extend(made, { ttlHours: 48, note: "why" });
    expect(extended.spec).toEqual({ ...made.spec, ttlHours: 48 });
    expect(extended.metadata.annotations).toMatchObject({ [EXTENSION_NOTE_ANNOTATION]: "why" });
    expect((await found(made.metadata.uid)).spec.ttlHours).toBe(48);
    const again = await scene.world.environments.extend(extended, { ttlHours: 72 });
    expect(again.metadata.annotations ?? {}).not.toHaveProperty([EXTENSION_NOTE_ANNOTATION]);
  });

  test("an extension of one expiry is made once, also by many at the same moment", async () => {
    const made = await create();
    const extend = () => scene.world.environments.extend(made, { ttlHours: 48, onlyFrom: expiresAt(made) });
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
    const changed = await Promise.all(hours.map((ttlHours) => scene.world.environments.extend(made, { ttlHours })));
    expect(changed.map(({ spec: { ttlHours } }) => ttlHours)).toEqual(hours);
  });

  test("a switch is turned, and leaves all else as it is", async () => {
    const made = await create();
    const guarded = await scene.world.environments.update(made, { protected: true });
    expect(guarded.spec).toEqual({ ...made.spec, protected: true });
    const asleep = await scene.world.environments.update(guarded, { suspended: true });
    expect(asleep.spec).toEqual({ ...made.spec, protected: true, suspended: true });
    await scene.world.environments.update(asleep, { protected: false });
    expect((await found(made.metadata.uid)).spec).toEqual({ ...made.spec, protected: false, suspended: true });
  });

  test("what its schedule has asleep is woken when the suspension is turned off, and only then", async () => {
    const made = await create();
    const asleep = await scene.world.environments.update(made, { suspended: true });
    expect(asleep.metadata.annotations?.[WAKE_ANNOTATION]).toBeUndefined();
    const woken = await scene.world.environments.update(asleep, { suspended: false });
    expect(Date.parse(woken.metadata.annotations?.[WAKE_ANNOTATION] ?? "")).not.toBeNaN();
  });

  test("a schedule is replaced, or removed so that it never sleeps", async () => {
    const schedule = { timeZone: "Europe/Berlin", awake: ["Mon-Fri 08:00-19:00"] };
    const made = await create({ sleep: { schedule } });
    const other = { ...schedule, awake: ["Sat 10:00-12:00"] };
    const changed = await scene.world.environments.update(made, { sleep: { schedule: other } });
    expect(changed.spec.sleep).toEqual({ schedule: other });
    const never = await scene.world.environments.update(changed, { sleep: { schedule: null } });
    expect(never.spec.sleep).toEqual({});
  });

  test("a wish for idleness replaces a schedule", async () => {
    const made = await create({ sleep: { schedule: { timeZone: "UTC", awake: ["Mon 08:00-19:00"] } } });
    const sleep = { schedule: null, afterIdleMinutes: 60, minimumRequests: 5 };
    const changed = await scene.world.environments.update(made, { sleep });
    expect(changed.spec.sleep).toEqual({ afterIdleMinutes: 60, minimumRequests: 5 });
  });

  test("the look of a person is recorded once for a while, and is no change of the spec", async () => {
    const made = await create();
    await scene.world.environments.recordActivity(made);
    const seen = await found(made.metadata.uid);
    expect(Date.parse(seen.metadata.annotations?.[LAST_ACTIVITY_ANNOTATION] ?? "")).not.toBeNaN();
    expect(seen.metadata.generation).toBe(made.metadata.generation);
    await scene.world.environments.recordActivity(made);
    expect((await found(made.metadata.uid)).metadata.resourceVersion).toBe(seen.metadata.resourceVersion);
  });

  test("the look at an environment that is gone records nothing, also when its name lives on", async () => {
    const made = await createHeld();
    await scene.world.environments.remove(made);
    await scene.world.release(await found(made.metadata.uid));
    await scene.world.environments.recordActivity(made);
    const other = await scene.world.environments.create(made.metadata.name, spec);
    await scene.world.environments.recordActivity(made);
    const { annotations = {} } = (await found(other.metadata.uid)).metadata;
    expect(annotations).not.toHaveProperty([LAST_ACTIVITY_ANNOTATION]);
  });

  test("a move merges branch, commit and version, and leaves the rest of the source", async () => {
    const configSet = { name: "web", version: 1 };
    const made = await create({ configSet, backend: { ...spec.backend, branch: "main", follow: true } });
    const commit = "d".repeat(40);
    const moved = await scene.world.environments.update(made, {
      backend: { branch: "next", commit },
      configSet: { version: 2 },
    });
    const { repository } = spec.backend;
    const backend = { repository, branch: "next", commit, follow: true };
    expect(moved.spec).toEqual({ ...made.spec, backend, configSet: { name: "web", version: 2 } });
    const unpinned = await scene.world.environments.update(moved, { backend: { branch: "main", commit: null } });
    expect(unpinned.spec.backend).toEqual({ repository, branch: "main", follow: true });
  });

  test("a switch is turned on an older version too, and both changes hold", async () => {
    const made = await create();
    await scene.world.environments.extend(made, { ttlHours: 48 });
    const turned = await scene.world.environments.update(made, { suspended: true });
    expect(turned.spec).toMatchObject({ ttlHours: 48, suspended: true });
  });

  test("no switch is turned on what is being deleted, or gone", async () => {
    const made = await createHeld();
    await scene.world.environments.remove(made);
    await expect(scene.world.environments.update(made, { suspended: true })).rejects.toBeInstanceOf(
      EnvironmentConflict,
    );
    await scene.world.release(await found(made.metadata.uid));
    await expect(scene.world.environments.update(made, { suspended: true })).rejects.toBeInstanceOf(
      EnvironmentNotFound,
    );
  });

  test("an extension of an older version is still one", async () => {
    const made = await create();
    await scene.world.environments.extend(made, { ttlHours: 48 });
    expect((await scene.world.environments.extend(made, { ttlHours: 72 })).spec.ttlHours).toBe(72);
  });

  test("what is being deleted can't be extended", async () => {
    const made = await createHeld();
    await scene.world.environments.remove(made);
    await expect(scene.world.environments.extend(made, { ttlHours: 48 })).rejects.toBeInstanceOf(EnvironmentConflict);
  });

  test("what is gone can't be extended, even when its name lives on", async () => {
    const made = await createHeld();
    await scene.world.environments.remove(made);
    await scene.world.release(await found(made.metadata.uid));
    await expect(scene.world.environments.extend(made, { ttlHours: 48 })).rejects.toBeInstanceOf(EnvironmentNotFound);
    const successor = await scene.world.environments.create(made.metadata.name, spec);
    await expect(scene.world.environments.extend(made, { ttlHours: 48 })).rejects.toBeInstanceOf(EnvironmentNotFound);
    expect((await found(successor.metadata.uid)).spec.ttlHours).toBe(24);
  });

  test("a removal shows at once and may be asked for again", async () => {
    const made = await createHeld();
    expect(await scene.world.environments.remove(made)).toBe("removing");
    expect((await found(made.metadata.uid)).metadata.deletionTimestamp).toEqual(expect.any(String));
    expect(await scene.world.environments.remove(made)).toBe("removing");
  });

  test("a removal of what is gone never touches the one that has its name now", async () => {
    const made = await createHeld();
    await scene.world.environments.remove(made);
    await scene.world.release(await found(made.metadata.uid));
    const successor = await scene.world.environments.create(made.metadata.name, spec);
    expect(await scene.world.environments.remove(made)).toBe("removing");
    expect((await found(successor.metadata.uid)).metadata).not.toHaveProperty("deletionTimestamp");
  });

  test("a removal of one version is not one of the next", async () => {
    const made = await createHeld();
    await scene.world.environments.extend(made, { ttlHours: 48 });
    expect(await scene.world.environments.remove(made, { onlyThisVersion: true })).toBe("changed");
    const current = await found(made.metadata.uid);
    expect(current.metadata).not.toHaveProperty("deletionTimestamp");
    expect(await scene.world.environments.remove(current, { onlyThisVersion: true })).toBe("removing");
  });

  test("what is protected stays", async () => {
    const made = await create({ protected: true });
    await expect(scene.world.environments.remove(made)).rejects.toBeInstanceOf(EnvironmentConflict);
    expect((await found(made.metadata.uid)).metadata).not.toHaveProperty("deletionTimestamp");
  });
}
