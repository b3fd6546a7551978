import { afterEach, describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { EnvironmentNotFound } from "../../../../crds/errors.ts";
import { reconcileToken } from "../../../../crds/group.ts";
import { type EnvironmentsScene, PASS_DEADLINE_MS, spec } from "./scene.ts";

/** Tests of waits for a requested reconcile. */
export function passesOverEnvironments(scene: EnvironmentsScene): void {
  const { create, createHeld, found } = scene;

  test("what is read again is as it is now, and nothing when only its name lives on", async () => {
    const made = await createHeld();
    const extended = await scene.world.environments.extend(made, { ttlHours: 48 });
    expect((await scene.world.environments.reread(made))?.metadata.resourceVersion).toBe(
      extended.metadata.resourceVersion,
    );
    await scene.world.environments.remove(made);
    await scene.world.release(await found(made.metadata.uid));
    await scene.world.environments.create(made.metadata.name, spec);
    expect(await scene.world.environments.reread(made)).toBeUndefined();
  });

  describe("a pass that is asked for", () => {
    const tokenOf = async ({ metadata }: EphemeralEnvironment) => reconcileToken(await found(metadata.uid));
    afterEach(() => scene.world.setOperating(false));

    test("is waited for until the status answers it", async () => {
      const made = await create();
      scene.world.setOperating(true);
      const { state, environment } = await scene.world.environments.reconcile(made, { withinMs: PASS_DEADLINE_MS });
      expect(state).toBe("answered");
      expect(environment.metadata.uid).toBe(made.metadata.uid);
      expect(environment.status?.lastHandledReconcileAt).toEqual(await tokenOf(made));
      expect(environment.spec).toEqual(made.spec);
    });

    test("goes on when it takes longer than is waited", async () => {
      const made = await create();
      const { state } = await scene.world.environments.reconcile(made, { withinMs: 20 });
      expect(state).toBe("pending");
      expect(await tokenOf(made)).toEqual(expect.any(String));
    });

    test("serves all who ask at the same time, or soon after, on whatever version", async () => {
      const made = await create();
      const ask = () => scene.world.environments.reconcile(made, { withinMs: 20 });
      const first = await Promise.all([ask(), ask(), ask()]);
      const token = await tokenOf(made);
      const { resourceVersion } = (await found(made.metadata.uid)).metadata;
      await ask();
      expect(first.map(({ environment }) => reconcileToken(environment))).toEqual([token, token, token]);
      expect((await found(made.metadata.uid)).metadata.resourceVersion).toBe(resourceVersion);
    });

    test("is one over what is being deleted, too", async () => {
      const made = await createHeld();
      await scene.world.environments.remove(made);
      scene.world.setOperating(true);
      const requested = await scene.world.environments.reconcile(made, { withinMs: PASS_DEADLINE_MS });
      expect(requested).toMatchObject({
        state: "answered",
        environment: { metadata: { deletionTimestamp: expect.any(String) } },
      });
    });

    test("is none over what is gone, even when its name lives on", async () => {
      const made = await createHeld();
      await scene.world.environments.remove(made);
      await scene.world.release(await found(made.metadata.uid));
      const successor = await scene.world.environments.create(made.metadata.name, spec);
      const asking = scene.world.environments.reconcile(made, { withinMs: 20 });
      await expect(asking).rejects.toBeInstanceOf(EnvironmentNotFound);
      expect(await tokenOf(successor)).toBeUndefined();
    });
  });
}
