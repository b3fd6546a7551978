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
import { isNotFound } from "../../../operator/kit/kube-errors.ts";
import type { ObjectRef, ResourceType } from "../../../operator/kit/kube-object.ts";
import type { RequestSeam } from "../../../operator/kit/kube-request.ts";
import { DeployerUnavailable } from "../../../operator/ports/deployer.ts";
import { SecretManagerUnavailable } from "../../../operator/ports/secret-manager.ts";
import { type RecordedLifecycle, recordLifecycles } from "../../support/fault-lifecycles.ts";
import { createFaultWorld, type FaultWorld, faultSpec } from "../../support/fault-world.ts";
import { CONVERGENCE_MS, leaks, orphans, snapshot } from "../../support/invariants.ts";
import { portSeam } from "../../support/port-seam.ts";
import { clockAhead, serverClockAhead } from "../../support/skewed-clock.ts";
import { until } from "../../support/until.ts";
import { staleLists, troubledWatches, type WatchTrouble } from "../../support/watch-seams.ts";
import type { InvariantId } from "../../support/world-observer.ts";

/** With a few environments only, no scene has to wait longer for its last URL. */
const PROBE_SECONDS = 5;

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
  world = await createFaultWorld(PROBE_SECONDS);
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

/** Begins when everything is in motion; its end is the end of the disturbance. */
type Disturb = (actors: readonly Actor[]) => Promise<unknown>;

const moment = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const nothing: Disturb = async () => undefined;

/**
 * Environments that are made, changed and deleted all at once while something happens; all come to their end.
 * `itself` is what the disturbance is by its nature, and no answer to it.
 */
async function play(title: string, disturb: Disturb, itself?: InvariantId): Promise<void> {
  const actors = lifecycles.map((lifecycle, part) => ({ lifecycle, name: `${title}-${part}` }));
  const before = (await world.observer.violations()).length;
  for (const { name } of actors) world.field.arm(name);
  await Promise.all(actors.map(({ lifecycle, name }) => lifecycle.given(name)));
  const acts = actors.map(({ lifecycle, name }) => lifecycle.act(name));
  await disturb(actors);
  await expectConverged(actors);
  await Promise.all(acts);
  await expectInvariants(before, itself);
}

async function expectConverged(actors: readonly Actor[]): Promise<void> {
  const missing = () => actors.flatMap(({ lifecycle, name }) => lifecycle.missing(name));
  const isOver = () => missing().length === 0;
  await until(isOver, { what: "the wanted state", deadlineMs: CONVERGENCE_MS, everyMs: 25 }).catch(() => undefined);
  expect(missing()).toEqual([]);
}

/** Nothing was seen since that must never happen; `before` is how much was seen in earlier scenes. */
async function expectInvariants(before: number, itself?: InvariantId): Promise<void> {
  const seen = (await world.observer.violations()).slice(before);
  expect(seen.filter(({ invariant }) => invariant !== itself)).toEqual([]);
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
    "events: %s",
    async (trouble) => {
      const watches = troubledWatches();
      const disturb = async () => {
        watches.set(trouble);
        // What is held back is met when it is let go.
        if (trouble !== "hold") await until(() => watches.met > 0, { what: "an event", deadlineMs: 10_000 });
        await moment(3_000);
        watches.set("none");
      };
      await under({ onRequest: watches.seam }, () => play(`watch-${trouble}`, disturb));
    },
    120_000,
  );

  test("stale lists after a 410: nothing that is gone is acted on", async () => {
    const watches = troubledWatches();
    const lists = staleLists();
    const seam: RequestSeam = (request, next) => watches.seam(request, () => lists.seam(request, next));
    const disturb = async () => {
      lists.goBack();
      watches.set("expire");
      await until(() => lists.served > 0, { what: "a stale list", deadlineMs: 10_000 });
      watches.set("none");
    };
    // No server answers such a list of the newest with the past: that readers see it is the fault, and what is done about it counts.
    await under({ onRequest: seam }, () => play("stale", disturb, "I14"));
  }, 120_000);
});

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
      const onPorts = portSeam((call, next) => (isDown && call.port === port ? Promise.reject(problem) : next()));
      const disturb = async () => {
        isDown = true;
        await moment(4_000);
        isDown = false;
      };
      await under({ onPorts }, () => play(`down-${port.toLowerCase()}`, disturb));
    },
    120_000,
  );
});

describe("operators", () => {
  test("two act at once", async () => {
    const second = await world.world.startOperator();
    await play("two", nothing);
    await second.stop();
  }, 120_000);

  test.each([
    { own: 2, server: 0 },
    { own: -2, server: 0 },
    { own: 0, server: 2 },
  ])(
    "its own clock is $own h ahead, the server's $server h: nothing goes early",
    async ({ own, server }) => {
      const title = `clock-${own + 2}-${server}`;
      const clocks = { clock: clockAhead(own), serverClock: serverClockAhead(server) };
      const short = `${title}-short`;
      world.field.arm(short);
      await under(clocks, async () => {
        await world.create(short, { ...faultSpec(short), ttlHours: 1 });
        await play(title, nothing);
        await world.world.reconcile(short);
      });
      expect(world.observer.environment(short)?.metadata.deletionTimestamp).toBeUndefined();
    },
    120_000,
  );

  test("one environment always fails and one is always slow: all others come to their end", async () => {
    const onPorts = portSeam((call, next) => {
      if (call.about === "poisonous") throw new TypeError("something that nobody foresaw");
      return call.about === "sluggish" ? moment(5_000).then(next) : next();
    });
    const broken = ["poisonous", "sluggish"];
    for (const name of broken) world.field.arm(name);
    await under({ onPorts }, async () => {
      for (const name of broken) await world.create(name);
      await play("bystander", nothing);
      expect(world.observer.environment("poisonous")?.status?.phase).toBe("creating");
    });
    const isReady = (name: string) => world.observer.environment(name)?.status?.phase === "ready";
    await until(() => broken.every(isReady), { what: "the healed ones", deadlineMs: CONVERGENCE_MS });
  }, 120_000);
});

describe("people", () => {
  const inside = (name: string) => (environment: string) => ({ name, namespace: namespaceName(environment) });
  const atDeployer = (environment: string) => ({ name: namespaceName(environment), namespace: "argocd" });
  const everybody = { from: [{ namespaceSelector: {} }] };
  const evil = { source: { helm: { valuesObject: { backend: { image: "evil" } } } } };

  test.each<{ what: string; type: ResourceType<WireObject>; ref: (environment: string) => ObjectRef; patch?: object }>([
    { what: "namespace", type: namespaceKind, ref: (name) => ({ name: namespaceName(name) }) },
    { what: "quota", type: resourceQuotaKind, ref: inside("environment") },
    { what: "raised-quota", type: resourceQuotaKind, ref: inside("environment"), patch: { hard: { pods: "1000" } } },
    { what: "limits", type: limitRangeKind, ref: inside("environment") },
    { what: "default-deny", type: networkPolicyKind, ref: inside("default-deny") },
    { what: "traffic", type: networkPolicyKind, ref: inside("allowed-traffic") },
    { what: "open-traffic", type: networkPolicyKind, ref: inside("allowed-traffic"), patch: { ingress: [everybody] } },
    { what: "binding", type: roleBindingKind, ref: inside("ephemeral-environment") },
    { what: "application", type: applicationKind, ref: atDeployer },
    { what: "evil-application", type: applicationKind, ref: atDeployer, patch: evil },
    { what: "project", type: appProjectKind, ref: atDeployer },
    {
      what: "wide-project",
      type: appProjectKind,
      ref: atDeployer,
      patch: { destinations: [{ server: "*", namespace: "*" }] },
    },
  ])(
    "somebody deletes or edits the $what of every environment",
    async ({ what, type, ref, patch }) => {
      const { admin } = world.world;
      const damage = async (name: string) => {
        if (patch === undefined) await admin.delete(type, ref(name));
        else await admin.patch(type, ref(name), { spec: patch }, { as: "merge" }).catch(unlessAbsent);
      };
      await play(`${what}`, (actors) => Promise.all(actors.map(({ name }) => damage(name))));
    },
    120_000,
  );

  test("somebody takes the finalizer of living environments away: it comes back", async () => {
    const bare = { metadata: { finalizers: null } };
    await play("finalizer", (actors) => {
      const living = actors.filter(({ lifecycle }) => lifecycle.name !== "delete");
      return Promise.all(
        living.map(async ({ name }) => {
          await until(() => world.observer.environment(name), { what: `'${name}'`, deadlineMs: 10_000 });
          await world.world.admin.patch(environmentType, { name }, bare, { as: "merge" });
        }),
      );
    });
  }, 120_000);
});

/** It is not made yet, or has gone already. */
function unlessAbsent(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

test("nothing readable holds a secret", () => {
  expect(leaks(world.observer.secretValues, [world.log()])).toEqual([]);
});
