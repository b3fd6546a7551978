import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../config/settings.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { FORCE_TEARDOWN_ANNOTATION, PODS_ENDED_ANNOTATION } from "../../../crds/group.ts";
import { applicationKind } from "../../../operator/adapters/argocd/kinds.ts";
import { environmentType, recordType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { namespaceKind, podKind, type WireObject, wireKind } from "../../../operator/kit/client/kinds.ts";
import type { RequestInterceptor } from "../../../operator/kit/client/request.ts";
import { configMaps } from "../../support/fixtures/config-maps.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { administrator } from "../../support/plane/people.ts";
import { createWorld, type World } from "../../support/worlds/environment-world.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
}, 180_000);
afterEach(() => world.abandonOperators());
afterAll(() => world.stop(), 60_000);

const serviceKind = wireKind({ group: "", version: "v1", kind: "Service", plural: "services", namespaced: true });
const HOLD = "example.test/hold";
const BALANCER = "service.kubernetes.io/load-balancer-cleanup";
const impatient = { settings: settingsFrom({ ...testSettings, deletion: { chartSeconds: 1, finalizerSeconds: 2 } }) };

/** A ready environment whose application is never deleted, with a ConfigMap blocked by a foreign finalizer. */
async function held(name: string): Promise<EphemeralEnvironment> {
  const { stop } = await world.startOperator();
  await world.create(name);
  const ready = await world.expectPhase(name, "ready");
  await stop();
  world.argocd.decide(name, () => "undeletable");
  await world.admin.create(configMaps, { metadata: { name: "held", namespace: `env-${name}`, finalizers: [HOLD] } });
  return ready;
}

/**
 * The namespace controller checks 5 s after the deletion, and 5 s later for its own change of the conditions. Then it
 * has seen the pod twice, and waits.
 */
const TWO_CHECKS_MS = 8_000;

interface NamespaceState {
  readonly conditions?: readonly { readonly lastTransitionTime: string }[];
}

const stateOf = async (name: string) =>
  (await world.admin.find<WireObject>(namespaceKind, { name }))?.status as NamespaceState | undefined;

const recordOf = async ({ metadata }: EphemeralEnvironment) =>
  (await world.admin.find(recordType, { name: metadata.uid, namespace: "ephemeral-system" }))?.spec;

test("what the deployer has left in the namespace, and the finalizer of a controller that is gone holds, goes, too", async () => {
  const name = "held-leftovers";
  for (const _again of [1, 2]) {
    const { stop } = await world.startOperator(impatient);
    await world.create(name);
    const made = await world.expectPhase(name, "ready");
    await world.admin.create(serviceKind, {
      metadata: { name: "kept", namespace: `env-${name}`, finalizers: [HOLD] },
      spec: { ports: [{ port: 80 }] },
    });
    await world.delete(made);
    await world.expectGone(made);
    const record = await recordOf(made);
    expect(record).toMatchObject({ removals: [{ kind: "Service", finalizer: HOLD, names: ["kept"], objects: 1 }] });
    expect(record?.takenOver).toBeUndefined();
    await stop();
  }
}, 180_000);

/** A pod on a node, with an hour to stop. */
async function patientPod(namespace: string): Promise<{ name: string; namespace: string }> {
  const pod = { name: "patient", namespace };
  const containers = [
    {
      name: "main",
      image: "example.test/none",
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
    },
  ];
  const securityContext = { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } };
  const grace = { automountServiceAccountToken: false, terminationGracePeriodSeconds: 3600 };
  await world.admin.create(podKind, { metadata: pod, spec: { containers, securityContext, ...grace } });
  // As by the scheduler: an unscheduled pod is deleted at once.
  const binding = { metadata: { name: pod.name }, target: { apiVersion: "v1", kind: "Node", name: "a-node" } };
  const path = `/api/v1/namespaces/${namespace}/pods/${pod.name}/binding`;
  expect((await administrator(world.plane).create(path, binding)).status).toBe(201);
  return pod;
}

describe("a deletion that the deployer does not end", () => {
  test("is taken over: everything goes, and the record says what was removed by force", async () => {
    const name = "held-application";
    for (const _again of [1, 2]) {
      const made = await held(name);
      const { stop } = await world.startOperator(impatient);
      await world.delete(made);
      await world.expectGone(made);
      const record = await recordOf(made);
      expect(record).toMatchObject({
        takenOver: expect.stringMatching(/^not deleted by the deployer within 1 s: .*the cluster does not answer/),
        removals: [{ kind: "ConfigMap", finalizer: HOLD, names: ["held"], objects: 1 }],
      });
      expect(record?.forced).toBeUndefined();
      await stop();
    }
  }, 180_000);

  test.each([1, 0])(
    "is taken over once by two operators that both believe to lead, after %i s",
    async (chartSeconds) => {
      const name = `held-by-two-${chartSeconds}`;
      const settings = settingsFrom({ ...testSettings, deletion: { chartSeconds, finalizerSeconds: 2 } });
      const namespace = `env-${name}`;
      const made = await held(name);
      const names = ["held", "held-1", "held-2", "held-3"];
      for (const other of names.slice(1)) {
        await world.admin.create(configMaps, { metadata: { name: other, namespace, finalizers: [HOLD] } });
      }
      /** The releases that the API server accepted, by either. */
      const released: string[] = [];
      const onRequest: RequestInterceptor = async (request, next) => {
        const answer = await next();
        const isRelease =
          request.verb === "patch" && request.namespace === namespace && request.type?.kind === "ConfigMap";
        if (isRelease && answer.status === 200) {
          released.push(request.name ?? "");
        }
        return answer;
      };
      const both = await Promise.all([1, 2].map(() => world.startOperator({ settings, onRequest })));
      await world.delete(made);
      await world.expectGone(made);
      // Kubernetes accepts each of several updates that remove the last finalizer at the same moment.
      expect([...new Set(released)].sort()).toEqual(names);
      const records = (await world.admin.list(recordType)).items.filter(({ spec }) => spec.uid === made.metadata.uid);
      expect(records.map(({ spec }) => spec)).toMatchObject([
        {
          takenOver: expect.stringMatching(/^not deleted by the deployer within [0-9] s/),
          removals: [{ kind: "ConfigMap", finalizer: HOLD, names, objects: names.length }],
        },
      ]);
      await Promise.all(both.map(({ stop }) => stop()));
    },
    180_000,
  );

  test("ends soon after its last pod, although Kubernetes would come back after half of that pod's hour", async () => {
    const made = await held("held-pod");
    const namespace = "env-held-pod";
    const pod = await patientPod(namespace);
    const { stop } = await world.startOperator(impatient);
    await world.delete(made);
    const isLeftAlone = async () => {
      const conditions = (await stateOf(namespace))?.conditions ?? [];
      const [first] = conditions.map(({ lastTransitionTime }) => Date.parse(lastTransitionTime));
      return first !== undefined && Date.now() > first + TWO_CHECKS_MS;
    };
    await until(isLeftAlone, { what: "two checks of the namespace", deadlineMs: 60_000 });
    expect((await world.admin.find(podKind, pod))?.metadata.deletionGracePeriodSeconds).toBe(25);
    // The node has stopped it.
    await world.admin.delete(podKind, pod, { gracePeriodSeconds: 0 });
    const isMarked = async () => {
      const found = await world.admin.find(namespaceKind, { name: namespace });
      return found?.metadata.annotations?.[PODS_ENDED_ANNOTATION] !== undefined;
    };
    await until(isMarked, { what: "the namespace being marked" });
    await world.expectGone(made);
    expect((await recordOf(made))?.forced).toBeUndefined();
    await stop();
  }, 180_000);

  test("waits for what frees something outside the cluster, until an admin forces it, while no pod has more time than it may", async () => {
    const name = "held-balancer";
    const namespace = `env-${name}`;
    const made = await held(name);
    await world.admin.create(serviceKind, {
      metadata: { name: "public", namespace, finalizers: [BALANCER] },
      spec: { ports: [{ port: 80 }] },
    });
    const pod = await patientPod(namespace);
    const { stop } = await world.startOperator(impatient);
    await world.delete(made);
    const namesIt = ({ status }: EphemeralEnvironment) =>
      status?.teardown?.blockers?.some(({ reason }) => reason === BALANCER) === true &&
      status.teardown.removals?.some(({ finalizer }) => finalizer === HOLD) === true;
    const waiting = await world.expectState(name, "naming the load balancer", namesIt);
    expect(waiting.status?.phase).toBe("terminating");
    expect(await world.admin.find(applicationKind, { name: namespace, namespace: "argocd" })).toBeUndefined();
    expect((await world.admin.find(podKind, pod))?.metadata.deletionGracePeriodSeconds).toBe(25);
    // The node has stopped it.
    await world.admin.delete(podKind, pod, { gracePeriodSeconds: 0 });
    const isReleased = async () =>
      (await world.admin.find(configMaps, { name: "held", namespace }))?.metadata.finalizers === undefined;
    await until(isReleased, { what: "the finalizer of the ConfigMap being removed", deadlineMs: 30_000 });
    const alone = await world.expectState(
      name,
      "waiting for the load balancer alone",
      ({ status }) => status?.teardown?.blockers?.every(({ reason }) => reason === BALANCER) === true,
    );
    expect(alone.status?.teardown?.blockers).toEqual([
      { kind: "Service", name: "public", reason: BALANCER, message: expect.stringContaining("outside the cluster") },
    ]);

    const force = { metadata: { annotations: { [FORCE_TEARDOWN_ANNOTATION]: "namespace" } } };
    await world.admin.patch(environmentType, { name }, force, { as: "merge" });
    await world.expectGone(made);
    const isGone = async () => (await world.admin.find(namespaceKind, { name: namespace })) === undefined;
    await until(isGone, { what: "the namespace being gone", deadlineMs: 30_000 });
    const record = await recordOf(made);
    expect(record?.removals).toEqual(
      expect.arrayContaining([
        { kind: "ConfigMap", finalizer: HOLD, names: ["held"], objects: 1 },
        { kind: "Service", finalizer: BALANCER, names: ["public"], objects: 1 },
      ]),
    );
    expect(record?.forced).toMatchObject([{ step: "namespace" }]);
    await stop();
  }, 180_000);
});
