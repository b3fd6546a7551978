import { describe, expect, test } from "@jest/globals";
import { GROUP } from "../../../../../../crds/group.ts";
import { applicationKind } from "../../../../../../operator/adapters/argocd/kinds.ts";
import { heldContents } from "../../../../../../operator/controllers/environment/deletion/take-over.ts";
import { isOver } from "../../../../../../operator/controllers/environment/deletion/teardown.ts";
import { ENVIRONMENT_QUOTA } from "../../../../../../operator/controllers/environment/desired/isolation.ts";
import { KubeError } from "../../../../../../operator/kit/client/errors.ts";
import {
  namespaceKind,
  podKind,
  resourceQuotaKind,
  roleBindingKind,
} from "../../../../../../operator/kit/client/kinds.ts";
import type { PodProblem } from "../../../../../../operator/ports/pods.ts";
import { configMaps } from "../../../../../support/fixtures/config-maps.ts";
import { CREATED } from "../../../../../support/fixtures/environment/environment-fixture.ts";
import {
  BALANCER,
  binding,
  CASCADE,
  finalizersOf,
  held,
  KEPT_RIGHTS,
  namespace,
  patient,
  put,
  putPod,
  putUndeleted,
  rightsOf,
  serviceKind,
} from "./take-over-scene.ts";
import { HOLD, scene, shop } from "./teardown-scene.ts";

describe("a deletion that the deployer does not end", () => {
  test("is the deployer's for a minute, and the platform's from then on", async () => {
    const world = await held();
    const first = await world.pass();
    expect(first.states.slice(1, 3)).toEqual(["waiting", "pending"]);
    expect(first.recheckMs).toBe(60_000);
    expect((await world.pass({ after: 0.5 })).recheckMs).toBe(30_000);
    expect(rightsOf(world)).toBeUndefined();
    const taken = await world.pass({ after: 0.5 });
    expect(taken.states).toEqual(["gone", "gone", "gone", "gone", "waiting", "pending", "pending"]);
    expect(taken.steps[1]?.message).toMatch(/^not deleted by the deployer within 60 s: .*resources-finalizer/);
    expect(world.cluster.observe(shop, applicationKind, { name: namespace, namespace: "argocd" })).toBeUndefined();
    world.holdNamespace();
    const last = await world.pass();
    expect(isOver(last)).toBe(true);
    expect(last.steps[1]?.message).toBe(taken.steps[1]?.message);
  });

  test("says which Jobs had not ended: one of them may be the hook that it waited for", async () => {
    const world = await held();
    const problem = { component: "migrate", what: "", remedy: "", since: new Date(CREATED), evidence: async () => "" };
    const problems: readonly PodProblem[] = [
      { ...problem, reason: "ResourceNotReady", object: { kind: "Job", name: "migrate" } },
      { ...problem, reason: "JobFailed", object: { kind: "Job", name: "seed" } },
      { ...problem, reason: "CrashLoop", object: { kind: "Deployment", name: "backend" } },
    ];
    world.pods.diagnose = async () => ({ problems, quiet: [], isServing: false });
    await world.pass();
    const taken = await world.pass({ after: 1 });
    expect(taken.steps[1]?.message).toMatch(/within 60 s, while Job\/migrate had not ended: /);
  });

  test("ends although its namespace is being deleted already, and no role can be bound there", async () => {
    const world = await held();
    const metadata = { ...binding, uid: "binding", resourceVersion: "1", creationTimestamp: CREATED };
    const leaving = { ...metadata, deletionTimestamp: CREATED, finalizers: ["kubernetes"] };
    world.cluster.put(roleBindingKind, { apiVersion: "rbac/v1", kind: "RoleBinding", metadata: leaving });
    await world.pass();
    expect((await world.pass({ after: 1 })).states.slice(0, 5)).toEqual(["gone", "gone", "gone", "gone", "waiting"]);
    world.holdNamespace();
    expect(isOver(await world.pass())).toBe(true);
  });

  test("gives the rights back as soon as nothing needs them", async () => {
    const world = await held();
    await world.pass();
    put(world, configMaps, "protected", ["kubernetes.io/pvc-protection", "foregroundDeletion"]);
    await world.pass({ after: 1 });
    expect(rightsOf(world)).toEqual([]);
  });

  test("names what others hold a minute later, then releases it, and waits for what frees something outside", async () => {
    const world = await held();
    await world.pass();
    put(world, configMaps, "held", [HOLD, "foregroundDeletion"]);
    put(world, serviceKind, "public", [BALANCER]);
    await world.pass({ after: 1 });
    const patient = await world.pass({ after: 0.9 });
    // Nothing is to be done before the finalizers are due.
    expect(patient).toMatchObject({ removals: [], recheckMs: 6_000 });
    expect(rightsOf(world)).toEqual(KEPT_RIGHTS);

    const named = await world.pass({ after: 0.1 });
    expect(named.removals).toEqual([{ kind: "ConfigMap", finalizer: HOLD, names: ["held"], objects: 1 }]);
    expect(named.blockers.map(({ kind, name, reason }) => `${kind} ${name} ${reason}`)).toEqual([
      `ConfigMap held ${HOLD}`,
      `Service public ${BALANCER}`,
    ]);
    expect(finalizersOf(world, "held")).toEqual([HOLD, "foregroundDeletion"]);
    await world.pass();
    expect(finalizersOf(world, "held")).toEqual(["foregroundDeletion"]);
    const listed = world.namespaceContents.lists();
    const rest = await world.pass({ after: 60 });
    // Only the load balancer remains: one list in a quarter of a minute.
    expect(rest.recheckMs).toBe(15_000);
    expect(world.namespaceContents.lists()).toBe(listed + 1);
    expect(rest.blockers).toMatchObject([{ kind: "Service", name: "public", reason: BALANCER }]);
    expect(finalizersOf(world, "public")).toEqual([BALANCER]);

    world.force("namespace");
    const forcing = await world.pass();
    expect(forcing).toMatchObject({ removals: [{ kind: "ConfigMap" }, { kind: "Service" }], recheckMs: 2_000 });
    expect(finalizersOf(world, "public")).toEqual([BALANCER]);
    const forced = await world.pass();
    expect(forced.states).toEqual(["gone", "gone", "gone", "gone", "forced", "gone", "gone"]);
    expect(finalizersOf(world, "public")).toBeUndefined();
    expect(rightsOf(world)).toEqual([]);
    expect(world.records.list()).toMatchObject([
      { removals: [{ finalizer: HOLD }, { kind: "Service", finalizer: BALANCER, names: ["public"], objects: 1 }] },
    ]);
  });

  test("names what refuses a removal, takes its time for the next attempt, and releases the others meanwhile", async () => {
    const world = await held();
    await world.pass();
    put(world, configMaps, "guarded", [HOLD]);
    put(world, configMaps, "held", [HOLD]);
    world.namespaceContents.refuse("guarded", 'admission webhook "guard.example.test" denied the request: keep');
    await world.pass({ after: 1 });
    await world.pass({ after: 1 });
    expect((await world.pass()).recheckMs).toBe(2_000);
    expect(finalizersOf(world, "held")).toBeUndefined();
    const refused = await world.pass();
    expect(refused.recheckMs).toBe(15_000);
    expect(refused.blockers).toMatchObject([
      {
        kind: "ConfigMap",
        name: "guarded",
        reason: HOLD,
        message: expect.stringContaining('"guard.example.test" denied'),
      },
    ]);

    world.force("namespace");
    const forced = await world.pass();
    expect(forced.steps[4]).toMatchObject({ state: "forced", message: expect.stringContaining("denied the request") });
    expect(rightsOf(world)).toEqual([]);
  });

  test("releases the others where the call for one fails", async () => {
    const world = await held();
    await world.pass();
    for (const name of ["broken", "held"]) put(world, configMaps, name, [HOLD]);
    await world.pass({ after: 1 });
    await world.pass({ after: 1 });
    const { release } = world.namespaceContents;
    world.namespaceContents.release = async (environment, content, finalizers) => {
      if (content.name === "broken") throw new KubeError({ status: 0, reason: "Timeout" });
      return release(environment, content, finalizers);
    };
    expect((await world.pass()).error).toBeInstanceOf(KubeError);
    expect(finalizersOf(world, "broken")).toEqual([HOLD]);
    expect(finalizersOf(world, "held")).toBeUndefined();
  });

  test("names no more than twenty objects of a kind, and fifty kinds of removals, and releases all of them", async () => {
    const world = await held();
    await world.pass();
    for (let at = 0; at < 30; at += 1) put(world, configMaps, `many-${at}`, [HOLD]);
    for (let at = 0; at < 60; at += 1) put(world, configMaps, `other-${at}`, [`example.test/hold-${at}`]);
    await world.pass({ after: 1 });
    const { removals } = await world.pass({ after: 1 });
    expect(removals).toHaveLength(50);
    expect(removals[0]).toMatchObject({ finalizer: HOLD, objects: 30 });
    expect(removals[0]?.names).toHaveLength(20);
    await world.pass();
    expect(world.cluster.within(namespace).flatMap(({ object }) => object.metadata.finalizers ?? [])).toEqual([
      "ephemeral-environments.dev/teardown",
    ]);
  });

  test("gives pods as long as they may take to stop", async () => {
    const world = await held();
    await world.pass();
    putPod(world);
    await world.pass({ after: 1 });
    const [pod] = world.cluster.within(namespace).filter(({ kind }) => kind.plural === "pods");
    expect(pod?.object.metadata.deletionGracePeriodSeconds).toBe(25);
  });

  test("keeps the rights until the pods have ended, and has Kubernetes check the namespace then, once", async () => {
    const world = await held();
    await world.pass();
    putPod(world);
    put(world, serviceKind, "public", [BALANCER]);
    const listed = world.namespaceContents.lists();
    const ending = await world.pass({ after: 1 });
    expect(ending.recheckMs).toBe(2_000);
    expect(rightsOf(world)).toEqual(KEPT_RIGHTS);
    // Kubernetes deletes nothing else before.
    expect(world.namespaceContents.lists()).toBe(listed);
    // A node that does not answer is checked less often.
    expect((await world.pass({ after: 1 })).recheckMs).toBe(15_000);
    expect(world.namespaceContents.announced()).toBe(0);

    world.cluster.hold(podKind, patient, []);
    await world.pass();
    expect(rightsOf(world)).toEqual(KEPT_RIGHTS);
    world.cluster.hold(serviceKind, { name: "public", namespace }, []);
    await world.pass();
    expect(rightsOf(world)).toEqual([]);
    expect(world.namespaceContents.announced()).toBe(1);
  });

  test("goes on where the namespace can't be marked", async () => {
    const world = await held();
    world.namespaceContents.announcePodsEnded = async () => {
      throw new KubeError({ status: 403, reason: "Forbidden" });
    };
    await world.pass();
    await world.pass({ after: 1 });
    expect(rightsOf(world)).toEqual([]);
  });

  test("keeps the rights while a kind can't be listed, names what it knows, and is not forced before it is stuck", async () => {
    const world = await held();
    await world.pass();
    put(world, serviceKind, "public", [BALANCER]);
    put(world, configMaps, "held", [HOLD]);
    await world.pass({ after: 1 });
    world.namespaceContents.overload("Service");
    world.force("namespace");
    const unknown = await world.pass({ after: 1 });
    expect(unknown.states[4]).toBe("waiting");
    expect(unknown.blockers.map(({ name }) => name)).toContain("held");
    expect((await world.pass()).states[4]).toBe("waiting");
    expect(finalizersOf(world, "held")).toBeUndefined();
    expect(rightsOf(world)).toEqual(KEPT_RIGHTS);

    world.namespaceContents.overload(undefined);
    expect((await world.pass()).states[4]).toBe("waiting");
    expect((await world.pass()).states[4]).toBe("forced");
    expect(finalizersOf(world, "public")).toBeUndefined();
    expect(rightsOf(world)).toEqual([]);
  });

  test("a pod on a node that does not answer keeps the finalizers of what Kubernetes has not deleted yet", async () => {
    const world = await held();
    await world.pass();
    putPod(world);
    putUndeleted(world, configMaps, "held", [HOLD]);
    await world.pass({ after: 1 });
    const quiet = await world.pass({ after: 1 });
    expect(quiet).toMatchObject({ removals: [{ names: ["held"] }], blockers: [{ name: "held" }], recheckMs: 15_000 });
    await world.pass();
    expect(finalizersOf(world, "held")).toEqual([HOLD]);

    world.cluster.hold(podKind, patient, []);
    await world.pass();
    expect(finalizersOf(world, "held")).toEqual([HOLD]);
    put(world, configMaps, "held", [HOLD]);
    await world.pass();
    expect(finalizersOf(world, "held")).toBeUndefined();
    expect(rightsOf(world)).toEqual(KEPT_RIGHTS);
    await world.pass();
    expect(rightsOf(world)).toEqual([]);
  });

  test("a namespace is not deleted before it is known whether rights must be kept", async () => {
    const world = await scene();
    world.holdNamespace("kubernetes");
    const rights = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding", metadata: binding };
    await world.cluster.ensure(shop, roleBindingKind, rights);
    const metadata = { name: ENVIRONMENT_QUOTA, namespace };
    const status = { used: { "count/persistentvolumeclaims": "1" } };
    await world.cluster.ensure(shop, resourceQuotaKind, { apiVersion: "v1", kind: "ResourceQuota", metadata, status });
    putUndeleted(world, configMaps, "held", [HOLD]);
    const { list } = world.namespaceContents;
    world.namespaceContents.list = async () => {
      throw new KubeError({ status: 503, reason: "ServiceUnavailable" });
    };
    const isDeleted = () =>
      world.cluster.observe(shop, namespaceKind, { name: namespace })?.metadata.deletionTimestamp !== undefined;
    expect((await world.pass()).states[4]).toBe("waiting");
    expect(isDeleted()).toBe(false);
    world.namespaceContents.list = list;
    await world.pass();
    expect(isDeleted()).toBe(true);
    expect(rightsOf(world)).toEqual(KEPT_RIGHTS);
  });
});

test("force-teardown=application has the platform take over a deletion that its settings leave to the deployer", async () => {
  const world = await scene({ deletion: { chartSeconds: 3600 } });
  world.holdApplication(CASCADE);
  world.force("application");
  await world.pass();
  expect((await world.pass({ after: 4 })).states[1]).toBe("waiting");
  expect((await world.pass({ after: 1 })).states).toEqual(Array(7).fill("gone"));
  expect(await world.left(shop)).toEqual([]);
});

describe("what holds the objects of a namespace", () => {
  const content = (...finalizers: string[]) => ({
    kind: configMaps,
    name: "one",
    uid: "uid",
    resourceVersion: "1",
    finalizers,
    isDeleted: true,
  });

  test.each([
    ["nothing", [], []],
    ["Kubernetes' own and ours", ["foregroundDeletion", "kubernetes.io/pvc-protection", `${GROUP}/teardown`], []],
    ["one of others", ["foregroundDeletion", HOLD], [{ removable: [HOLD], awaited: [] }]],
    ["one that is waited for", [BALANCER], [{ removable: [], awaited: [BALANCER] }]],
    ["one of a domain that is waited for", ["cloud.test/a"], [{ removable: [], awaited: ["cloud.test/a"] }]],
    ["one whose domain only begins so", ["cloud.test.evil/a"], [{ removable: ["cloud.test.evil/a"], awaited: [] }]],
    ["both", [BALANCER, HOLD], [{ removable: [HOLD], awaited: [BALANCER] }]],
  ])("%s", (_, finalizers, expected) => {
    const one = content(...finalizers);
    expect(heldContents([one], [BALANCER, "cloud.test/*"])).toEqual(
      expected.map((held) => ({ ...held, content: one })),
    );
  });
});
