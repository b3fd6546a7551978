import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { DeployerUnavailable } from "../../../operator/ports/deployer.ts";
import { SecretManagerUnavailable } from "../../../operator/ports/secret-manager.ts";
import { type Play, prepareScenes, SCENE_WORLD, under } from "../../support/faults/fault-scenes.ts";
import { createFaultWorld, type FaultWorld } from "../../support/faults/fault-world.ts";
import { leaks } from "../../support/faults/invariants.ts";
import { portInterceptor } from "../../support/faults/port-interceptor.ts";

let world: FaultWorld;
let play: Play;
beforeAll(async () => {
  world = await createFaultWorld(SCENE_WORLD);
  play = await prepareScenes(world);
}, 300_000);
afterAll(() => world.stop(), 60_000);

const moment = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("servers", () => {
  test.each(["kube-apiserver", "etcd", "kube-controller-manager"] as const)(
    "%s is killed and comes back",
    async (program) => {
      await play(`killed-${program.replace("kube-", "")}`, () => world.world.plane.restart(program));
    },
    180_000,
  );

  test("the API server is asked to stop, stays away for a while, and comes back", async () => {
    const { plane } = world.world;
    await play("away", async () => {
      await plane.kill("kube-apiserver", { graceMs: 3_000 });
      await moment(5_000);
      await plane.restart("kube-apiserver");
    });
  }, 180_000);

  test.each([
    { port: "secretManager", problem: new SecretManagerUnavailable("the secret manager is down") },
    { port: "deployer", problem: new DeployerUnavailable("the deployer is down") },
  ])(
    "the $port is down and comes back",
    async ({ port, problem }) => {
      let isDown = false;
      const onPorts = portInterceptor((call, next) =>
        isDown && call.port === port ? Promise.reject(problem) : next(),
      );
      const disturb = async () => {
        isDown = true;
        await moment(4_000);
        isDown = false;
      };
      await under(world, { onPorts }, () => play(`down-${port.toLowerCase()}`, disturb));
    },
    120_000,
  );
});

test("nothing readable holds a secret", () => {
  expect(leaks(world.observer.secretValues, [world.log()])).toEqual([]);
});
