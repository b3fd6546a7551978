import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { secretKind } from "../../../operator/kit/client/kinds.ts";
import { completeInventory, type Inventory } from "../../support/fixtures/environment-inventory.ts";
import { createWorld, podSecretRef, type World } from "../../support/fixtures/environment-world.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { type HttpsServer, startHttpsServer } from "../../support/http/https-server.ts";
import { type PlatformProcess, platformProcess } from "../../support/plane/platform-process.ts";

const ROUNDS = 6;

let world: World;
let ingress: HttpsServer;
let platform: PlatformProcess;
beforeAll(async () => {
  world = await createWorld();
  ingress = await startHttpsServer(["DNS:*.env.localhost"], (_request, reply) => reply.end("ok"));
  const probed = { ingressAddress: ingress.address, ingressCaFile: ingress.caFile };
  platform = await platformProcess(world.identity, { ...testSettings, ...probed });
}, 180_000);
afterAll(async () => {
  await platform.stop();
  await ingress.stop();
  await world.stop();
}, 60_000);

/** Starts the process, acts, and kills it once so many objects of the environment are there (or are left). */
async function killAt(
  made: () => Promise<EphemeralEnvironment>,
  isMoment: (left: number) => boolean,
): Promise<EphemeralEnvironment> {
  await platform.start();
  const environment = await made();
  await until(async () => isMoment((await world.inventory(environment)).size), {
    what: "the moment of the kill",
    deadlineMs: 30_000,
    everyMs: 2,
  });
  await platform.kill();
  return environment;
}

const storedData = (inventory: Inventory) =>
  new Map([...inventory].filter(([title]) => title.startsWith("store/")).map(([title, { data }]) => [title, data]));

describe("the process is killed", () => {
  test("while it creates: the next one makes the same environments ready, with the secrets they had", async () => {
    const killed: { environment: EphemeralEnvironment; before: Inventory }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      // From "nothing but the resource" to "all of it", and wherever the process is when that is seen.
      const many = 1 + Math.floor((round * 11) / ROUNDS);
      const environment = await killAt(
        () => world.create(`killed-${round}`),
        (count) => count >= many,
      );
      killed.push({ environment, before: await world.inventory(environment) });
    }
    await platform.start();
    for (const { environment, before } of killed) {
      await world.expectPhase(environment.metadata.name, "ready");
      const after = await world.inventory(environment);
      expect([...after.keys()].sort()).toEqual(completeInventory(environment));
      for (const [title, { metadata }] of before) expect(after.get(title)?.metadata.uid).toBe(metadata.uid);
      expect(new Map([...storedData(after), ...storedData(before)])).toEqual(storedData(after));
      const pods = await world.admin.find(secretKind, podSecretRef(environment.metadata.name));
      const values = Object.entries((pods?.data ?? {}) as Record<string, string>);
      const stored = [...storedData(after).values()][0];
      expect(Object.fromEntries(values.map(([name, value]) => [`${name}.1`, value]))).toEqual(stored);
    }
    expect(await platform.terminate()).toBe(0);
  }, 300_000);

  test("while it deletes: the next one leaves nothing", async () => {
    const names = Array.from({ length: ROUNDS }, (_, round) => `ended-${round}`);
    await platform.start();
    const made = await Promise.all(names.map((name) => world.create(name)));
    await Promise.all(names.map((name) => world.expectPhase(name, "ready")));
    await platform.terminate();
    for (const [round, environment] of made.entries()) {
      const few = 10 - Math.floor((round * 9) / ROUNDS);
      const remove = () => world.delete(environment).then(() => environment);
      await killAt(remove, (left) => left <= few);
    }
    await platform.start();
    await Promise.all(made.map(world.expectGone));
    expect(await platform.terminate()).toBe(0);
  }, 180_000);
});
