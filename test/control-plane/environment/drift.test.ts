import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../config/settings.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { ENVIRONMENT_UID_LABEL } from "../../../crds/group.ts";
import { applicationKind, appProjectKind } from "../../../operator/adapters/argocd/kinds.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import {
  limitRangeKind,
  namespaceKind,
  networkPolicyKind,
  resourceQuotaKind,
  roleBindingKind,
  secretKind,
  serviceAccountKind,
  type WireObject,
} from "../../../operator/kit/client/kinds.ts";
import type { ObjectRef, ResourceType } from "../../../operator/kit/client/objects.ts";
import type { KubeRequest } from "../../../operator/kit/client/request.ts";
import type { OperatorOptions } from "../../../operator/wiring/operator.ts";
import { concernedAmong, normalised } from "../../support/faults/request-interceptors.ts";
import { FIRST_POD_SECRET } from "../../support/fixtures/environment/environment-inventory.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { liftNamespacePolicy } from "../../support/plane/chart/lifted-policy.ts";
import { createWorld, podSecretRef, type RunningOperator, type World } from "../../support/worlds/environment-world.ts";

const NAME = "drifting";
const NAMESPACE = `env-${NAME}`;
const within = { namespace: NAMESPACE };
const atDeployer = { name: NAMESPACE, namespace: "argocd" };

let world: World;
let running: RunningOperator;
let made: EphemeralEnvironment;
const requests: KubeRequest[] = [];
const passes: string[] = [];

const recorded: Partial<OperatorOptions> = {
  onRequest: (request, next) => {
    requests.push(request);
    return next();
  },
  onPorts: (context) => ({
    ...context,
    environment(name) {
      passes.push(name);
      return context.environment(name);
    },
  }),
};

let restorePolicy: () => Promise<void>;
beforeAll(async () => {
  world = await createWorld();
  restorePolicy = await liftNamespacePolicy(world.admin);
  running = await world.startOperator(recorded);
  made = await world.create(NAME);
  await world.expectPhase(NAME, "ready");
}, 180_000);
afterAll(async () => {
  await restorePolicy();
  await world.stop();
}, 60_000);

/** The desired part of an object: its fields and labels, without the API server's bookkeeping. */
function desiredPart(object: WireObject | undefined) {
  if (object === undefined) return undefined;
  const { apiVersion: _, kind: __, metadata, status: ___, ...fields } = object;
  return { ...fields, labels: metadata.labels, isLeaving: metadata.deletionTimestamp !== undefined };
}

interface Damage {
  readonly what: string;
  readonly type: ResourceType<WireObject>;
  readonly ref: ObjectRef;
  /** A merge patch; without it the object is deleted. */
  readonly patch?: object;
}

const everybody = { from: [{ namespaceSelector: {} }, { podSelector: {} }] };
const damages: readonly Damage[] = [
  { what: "a deleted quota", type: resourceQuotaKind, ref: { name: "environment", ...within } },
  {
    what: "a raised quota",
    type: resourceQuotaKind,
    ref: { name: "environment", ...within },
    patch: { spec: { hard: { pods: "1000" } } },
  },
  { what: "a deleted quota of priorities", type: resourceQuotaKind, ref: { name: "priority-classes", ...within } },
  {
    what: "a quota that priorities escape",
    type: resourceQuotaKind,
    ref: { name: "priority-classes", ...within },
    patch: { spec: { scopeSelector: { matchExpressions: [{ scopeName: "Terminating", operator: "Exists" }] } } },
  },
  { what: "a deleted limit range", type: limitRangeKind, ref: { name: "environment", ...within } },
  { what: "a deleted default deny", type: networkPolicyKind, ref: { name: "default-deny", ...within } },
  {
    what: "a peer added to a policy",
    type: networkPolicyKind,
    ref: { name: "allowed-traffic", ...within },
    patch: { spec: { ingress: [everybody] } },
  },
  { what: "a deleted ServiceAccount", type: serviceAccountKind, ref: { name: "default", ...within } },
  {
    what: "a ServiceAccount without an owner",
    type: serviceAccountKind,
    ref: { name: "default", ...within },
    patch: { metadata: { labels: { [ENVIRONMENT_UID_LABEL]: null } } },
  },
  {
    what: "a weakened Pod Security label",
    type: namespaceKind,
    ref: { name: NAMESPACE },
    patch: { metadata: { labels: { "pod-security.kubernetes.io/enforce": "privileged" } } },
  },
  {
    what: "a removed Pod Security label",
    type: namespaceKind,
    ref: { name: NAMESPACE },
    patch: { metadata: { labels: { "pod-security.kubernetes.io/enforce": null } } },
  },
  { what: "a deleted binding", type: roleBindingKind, ref: { name: "ephemeral-environment", ...within } },
  {
    what: "an edited application",
    type: applicationKind,
    ref: atDeployer,
    patch: { spec: { source: { helm: { valuesObject: { backend: { image: "evil" } } } } } },
  },
  {
    what: "a field added to an application",
    type: applicationKind,
    ref: atDeployer,
    patch: { spec: { source: { helm: { parameters: [{ name: "backend.image", value: "evil" }] } } } },
  },
  { what: "a deleted application", type: applicationKind, ref: atDeployer },
  {
    what: "a widened project",
    type: appProjectKind,
    ref: atDeployer,
    patch: { spec: { destinations: [{ server: "*", namespace: "*" }] } },
  },
  { what: "a deleted project", type: appProjectKind, ref: atDeployer },
];

describe("abuse case 84: an out-of-band change", () => {
  test.each(damages)(
    "$what is restored within seconds",
    async ({ type, ref, patch }) => {
      const before = await world.admin.find(type, ref);
      if (patch === undefined) await world.admin.delete(type, ref);
      else await world.admin.patch(type, ref, patch, { as: "merge" });
      const isRestored = async () => {
        const found = await world.admin.find(type, ref);
        const isAnew = patch !== undefined || found?.metadata.uid !== before?.metadata.uid;
        return isAnew && JSON.stringify(desiredPart(found)) === JSON.stringify(desiredPart(before));
      };
      await until(isRestored, { what: "the restored object", deadlineMs: 10_000 });
      await world.expectPhase(NAME, "ready");
    },
    30_000,
  );

  test("a deleted Secret of the pods comes back with the same values", async () => {
    const before = await world.admin.find(secretKind, podSecretRef(NAME));
    await world.admin.delete(secretKind, podSecretRef(NAME));
    await world.reconcile(NAME);
    const after = await world.admin.find(secretKind, podSecretRef(NAME));
    expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
    expect(after?.data).toEqual(before?.data);
    expect(after?.immutable).toBe(true);
  }, 30_000);

  test("a deleted namespace comes back with the same values", async () => {
    const before = await world.admin.find(secretKind, podSecretRef(NAME));
    await world.admin.delete(namespaceKind, { name: NAMESPACE });
    const isBack = async () => (await world.admin.find(secretKind, podSecretRef(NAME)))?.metadata.uid;
    await until(async () => ![undefined, before?.metadata.uid].includes(await isBack()), {
      what: "the Secret of a new namespace",
      deadlineMs: 60_000,
    });
    expect((await world.admin.find(secretKind, podSecretRef(NAME)))?.data).toEqual(before?.data);
    await world.expectPhase(NAME, "ready");
  }, 90_000);
});

describe("where nothing changed", () => {
  test("a pass asks for nothing and writes nothing, but for the one that is asked for: it looks and answers", async () => {
    await world.reconcile(NAME);
    const [requested, passed] = [requests.length, passes.length];
    const note = { metadata: { annotations: { touched: String(made.metadata.uid) } } };
    await world.admin.patch(environmentType, { name: NAME }, note, { as: "merge" });
    await until(() => passes.length > passed, { what: "an unrequested pass" });
    await world.reconcile(NAME);
    const concerned = concernedAmong([NAME]);
    const since = requests.slice(requested).filter((request) => concerned(request) === NAME);
    expect(since.map((request) => normalised(request, NAME))).toEqual([
      `get Secret ${FIRST_POD_SECRET}`,
      "patch EphemeralEnvironment/status NAME",
    ]);
  }, 30_000);

  test("nor do the first reconciles after a restart: ten thousand would ask at once", async () => {
    await running.stop();
    const [requested, passed] = [requests.length, passes.length];
    // Long enough that the environment's resync does not come during the test.
    const settings = settingsFrom({ ...testSettings, reconcile: { resyncMinutes: 1_000_000, probeSeconds: 5 } });
    running = await world.startOperator({ ...recorded, settings });
    await until(() => passes.length > passed + 1, { what: "two passes", deadlineMs: 20_000 });
    const concerned = concernedAmong([NAME]);
    const since = requests.slice(requested).filter((request) => concerned(request) === NAME);
    expect(since.map((request) => normalised(request, NAME))).toEqual([]);
  }, 40_000);
});
