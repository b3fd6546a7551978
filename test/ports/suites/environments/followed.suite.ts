import { expect, test } from "@jest/globals";
import type { EnvironmentChange } from "../../../../operator/ports/api/environments.ts";
import { until } from "../../../support/fixtures/until.ts";
import type { EnvironmentsScene } from "./scene.ts";

/** Tests of followed changes. */
export function followedEnvironments(scene: EnvironmentsScene): void {
  const { createHeld, found } = scene;

  /** The events of one environment, until `end`. */
  function follow(id: () => string) {
    const ended = new AbortController();
    const all: EnvironmentChange[] = [];
    const changes = scene.world.environments.changes(ended.signal);
    const reading = (async () => {
      for await (const batch of changes) all.push(...batch);
    })();
    return {
      own: () => all.filter((change) => change.id === id()),
      async end() {
        ended.abort();
        await reading;
      },
    };
  }

  test("a follower receives the creation, changes and the end", async () => {
    let uid = "";
    const follower = follow(() => uid);
    const made = await createHeld();
    uid = made.metadata.uid;
    await until(() => follower.own().length > 0, { what: "the beginning" });
    expect(follower.own()[0]).toMatchObject({ name: made.metadata.name, previous: undefined });
    await scene.world.environments.extend(await found(uid), { ttlHours: 30 });
    const isExtended = () => follower.own().at(-1)?.current?.spec.ttlHours === 30;
    await until(isExtended, { what: "the change" });
    const current = await found(uid);
    await scene.world.environments.remove(current);
    await scene.world.release(current);
    await until(() => follower.own().at(-1)?.current === undefined, { what: "the end" });
    expect(follower.own().at(-1)?.previous?.metadata.uid).toBe(uid);
    await follower.end();
  }, 30_000);

  test("a slow reader receives each environment once, in its last state, and nothing after the end", async () => {
    const ended = new AbortController();
    const changes = scene.world.environments.changes(ended.signal);
    const { metadata } = await createHeld();
    for (const ttlHours of [31, 32, 33]) await scene.world.environments.extend(await found(metadata.uid), { ttlHours });
    const reported: EnvironmentChange[] = [];
    const isLast = () => reported.at(-1)?.current?.spec.ttlHours === 33;
    await until(
      async () => {
        const batch = await changes.next();
        reported.push(...(batch.value ?? []).filter(({ id }) => id === metadata.uid));
        return isLast();
      },
      { what: "the last state" },
    );
    expect(reported[0]?.previous).toBeUndefined();
    ended.abort();
    expect(await changes.next()).toEqual({ done: true, value: undefined });
  }, 30_000);
}
