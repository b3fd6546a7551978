import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { namespaceName } from "../../../crds/names.ts";
import {
  applicationKind,
  appProjectKind,
  environmentType,
  limitRangeKind,
  namespaceKind,
  networkPolicyKind,
  resourceQuotaKind,
  roleBindingKind,
  secretKind,
  type WireObject,
} from "../../../operator/kinds.ts";
import type { ResourceType } from "../../../operator/kit/kube-object.ts";
import type { RequestSeam } from "../../../operator/kit/kube-request.ts";
import { DeployerUnavailable } from "../../../operator/ports/deployer.ts";
import { SecretManagerUnavailable } from "../../../operator/ports/secret-manager.ts";
import { type RecordedLifecycle, recordLifecycles } from "../../support/fault-lifecycles.ts";
import { createFaultWorld, type FaultWorld } from "../../support/fault-world.ts";
import { CONVERGENCE_MS, leaks, orphans, snapshot } from "../../support/invariants.ts";
import { portSeam } from "../../support/port-seam.ts";
import { clockAhead, serverClockAhead } from "../../support/skewed-clock.ts";
import { until } from "../../support/until.ts";
import { staleLists, troubledWatches, type WatchTrouble } from "../../support/watch-seams.ts";

let world: FaultWorld;
let lifecycles: readonly RecordedLifecycle[];
let foreignBefore: Map<string, string>;

const foreignNames = { name: "env-foreign" };
const foreign = [
  { type: namespaceKind, ref: foreignNames },
  { type: resourceQuotaKind, ref: { name: "environment", namespace: "env-foreign" } },
  { type: secretKind, ref: { name: "environment-secrets-1", namespace: "env-foreign" } },
  { type: applicationKind, ref: { name: "somebody-elses", namespace: "argocd" } },
  { type: secretKind, ref: { name: "somebody-elses-00000000", namespace: "ephemeral-secrets" } },
] as const;

beforeAll(async () => {
  world = await createFaultWorld();
  const { admin } = world.world;
  for (const { type, ref } of foreign) await admin.create(type, { metadata: ref, ...contentOf(type) } as never);
  await world.nextLife();
  lifecycles = await recordLifecycles(world);
  foreignBefore = await snapshot(admin, foreign);
}, 120_000);
afterAll(() => world.stop(), 60_000);

function contentOf(type: ResourceType<WireObject>): object {
  const source = { repoURL: "https://git.test/x.git", path: "." };
  const destination = { server: "https://kubernetes.default.svc", namespace: "elsewhere" };
  return type === applicationKind ? { spec: { project: "default", source, destination } } : {};
}

interface Actor {
  readonly name: string;
  readonly lifecycle: RecordedLifecycle;
}

interface Scene {
  readonly what: string;
  /** Begins when everything is in motion; what it answers ends it. */
  readonly disturb: (actors: readonly Actor[]) => Promise<unknown>;
}

const moment = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Environments that are made, changed and deleted all at once while something happens; all come to their end. */
async function play(title: string, { disturb }: Scene): Promise<void> {
  const actors = lifecycles.map((lifecycle, part) => ({ lifecycle, name: `${title}-${part}` }));
  for (const { name } of actors) world.field.arm(name);
  await Promise.all(actors.map(({ lifecycle, name }) => lifecycle.given(name)));
  const acts = actors.map(({ lifecycle, name }) => lifecycle.act(name));
  await disturb(actors);
  await expectConverged(actors);
  await Promise.all(acts);
  await expectInvariants();
}

async function expectConverged(actors: readonly Actor[]): Promise<void> {
  const missing = () => actors.flatMap(({ lifecycle, name }) => lifecycle.missing(name));
  const isOver = () => missing().length === 0;
  await until(isOver, { what: "the wanted state", deadlineMs: CONVERGENCE_MS, everyMs: 25 }).catch(() => undefined);
  expect(missing()).toEqual([]);
}

async function expectInvariants(): Promise<void> {
  expect(await world.observer.violations()).toEqual([]);
  expect(await orphans(world.world.admin)).toEqual([]);
  expect(await snapshot(world.world.admin, foreign)).toEqual(foreignBefore);
}

/** With an operator that meets it from its start on, and an honest one after it. */
async function under(options: Parameters<FaultWorld["nextLife"]>[0], scene: () => Promise<void>): Promise<void> {
  await world.nextLife(options);
  await scene();
  await world.nextLife();
}

describe("watches", () => {
  test.each<WatchTrouble>(["cut", "expire", "hold", "repeat", "reorder"])(
    "%s",
    async (trouble) => {
      const watches = troubledWatches();
      await under({ onRequest: watches.seam }, () =>
        play(`watch-${trouble}`, {
          what: trouble,
          async disturb() {
            watches.set(trouble);
            await moment(3_000);
            watches.set("none");
            expect(watches.met + (trouble === "hold" ? 1 : 0)).toBeGreaterThan(0);
          },
        }),
      );
    },
    120_000,
  );

  test("stale lists after a 410: nothing that is gone is acted on", async () => {
    const watches = troubledWatches();
    const lists = staleLists();
    const seam: RequestSeam = (request, next) => watches.seam(request, () => lists.seam(request, next));
    await under({ onRequest: seam }, () =>
      play("stale", {
        what: "stale lists",
        async disturb() {
          lists.goBack();
          watches.set("expire");
          await until(() => lists.served > 0, { what: "a stale list", deadlineMs: 10_000 });
          watches.set("none");
        },
      }),
    );
  }, 120_000);
});

describe("servers", () => {
  test.each(["kube-apiserver", "etcd", "kube-controller-manager"] as const)(
    "%s is killed and comes back",
    async (program) => {
      await play(`killed-${program.replace("kube-", "")}`, {
        what: program,
        disturb: () => world.world.plane.restart(program),
      });
    },
    180_000,
  );

  test.each([
    { port: "secretManager", problem: new SecretManagerUnavailable("the secret manager is down") },
    { port: "deployer", problem: new DeployerUnavailable("the deployer is down") },
  ])(
    "the $port is down and comes back",
    async ({ port, problem }) => {
      let isDown = false;
      const onPorts = portSeam((call, next) => (isDown && call.port === port ? Promise.reject(problem) : next()));
      await under({ onPorts }, () =>
        play(`down-${port.toLowerCase()}`, {
          what: port,
          async disturb() {
            isDown = true;
            await moment(4_000);
            isDown = false;
          },
        }),
      );
    },
    120_000,
  );
});

describe("operators", () => {
  test("two act at once", async () => {
    const second = await world.world.startOperator();
    await play("two", { what: "two leaders", disturb: async () => undefined });
    await second.stop();
  }, 120_000);

  test.each([
    { own: 2, server: 0 },
    { own: -2, server: 0 },
    { own: 0, server: 2 },
  ])(
    "clocks: its own is $own h ahead, the server's $server h",
    async ({ own, server }) => {
      const clocks = { clock: clockAhead(own), serverClock: serverClockAhead(server) };
      await under(clocks, () => play(`clock-${own + 2}-${server}`, { what: "clocks", disturb: async () => undefined }));
    },
    120_000,
  );
});

describe("people", () => {
  const children: readonly {
    type: ResourceType<WireObject>;
    ref: (name: string) => { name: string; namespace?: string };
  }[] = [
    { type: namespaceKind, ref: (name) => ({ name: namespaceName(name) }) },
    { type: resourceQuotaKind, ref: (name) => ({ name: "environment", namespace: namespaceName(name) }) },
    { type: limitRangeKind, ref: (name) => ({ name: "environment", namespace: namespaceName(name) }) },
    { type: networkPolicyKind, ref: (name) => ({ name: "default-deny", namespace: namespaceName(name) }) },
    { type: networkPolicyKind, ref: (name) => ({ name: "allowed-traffic", namespace: namespaceName(name) }) },
    { type: roleBindingKind, ref: (name) => ({ name: "ephemeral-environment", namespace: namespaceName(name) }) },
    { type: applicationKind, ref: (name) => ({ name: namespaceName(name), namespace: "argocd" }) },
    { type: appProjectKind, ref: (name) => ({ name: namespaceName(name), namespace: "argocd" }) },
  ];

  test.each(children.map((child) => ({ ...child, kind: child.type.kind, title: child.ref("x").name })))(
    "somebody deletes the $kind $title of every environment",
    async ({ type, ref, kind, title }) => {
      const scene = `gone-${kind.toLowerCase()}-${title.length}`;
      await play(scene, {
        what: kind,
        disturb: (actors) => Promise.all(actors.map(({ name }) => world.world.admin.delete(type, ref(name)))),
      });
    },
    120_000,
  );

  test("somebody takes the finalizer of living environments away: it comes back", async () => {
    await play("finalizer", {
      what: "finalizers",
      disturb: (actors) => {
        const living = actors.filter(({ lifecycle }) => lifecycle.name !== "delete");
        const bare = { metadata: { finalizers: null } };
        return Promise.all(
          living.map(async ({ name }) => {
            await until(() => world.observer.environment(name), { what: `'${name}'`, deadlineMs: 10_000 });
            await world.world.admin.patch(environmentType, { name }, bare, { as: "merge" });
          }),
        );
      },
    });
  }, 120_000);
});

test("nothing readable holds a secret", () => {
  expect(leaks(world.observer.secretValues, [world.log()])).toEqual([]);
});
