import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import {
  podSpec,
  type WorkloadKind,
  workload,
  workloadPaths,
} from "../../support/fixtures/environment/workload-objects.ts";
import { until } from "../../support/fixtures/until.ts";
import { callsAs } from "../../support/plane/api-calls.ts";
import { given, namespaceObject, paths } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator, unique } from "../../support/plane/people.ts";

const plane = await controlPlane();
const admin = administrator(plane);
const namespace = unique("env-made-");
const nodePath = "/api/v1/nodes";
const classPath = "/apis/storage.k8s.io/v1/storageclasses";
const volumePath = "/api/v1/persistentvolumes";
const claims = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;
const pods = workloadPaths.Pod(namespace);
const node = unique("node-");
const storageClass = unique("usual-");
const volume = unique("volume-");
const kinds: readonly WorkloadKind[] = ["Deployment", "StatefulSet", "DaemonSet", "Job", "ReplicationController"];

const controllers = [
  "deployment-controller",
  "replicaset-controller",
  "statefulset-controller",
  "daemonset-controller",
  "job-controller",
  "replicationcontroller-controller",
  "ephemeral-volume-controller",
  "persistentvolume-binder-controller",
  "persistentvolumeclaim-protection-controller",
  "validatingadmissionpolicy-status-controller",
];

let manager: ChildProcess;

beforeAll(async () => {
  const program = join(dirname(plane.kubectl), "kube-controller-manager");
  const flags = ["--use-service-account-credentials", "--leader-elect=false", "--secure-port", "0"];
  const args = ["--kubeconfig", plane.kubeconfigPath, ...flags, "--controllers", controllers.join(",")];
  manager = spawn(program, args, { stdio: "ignore" });
  await given(callsAs(plane, { token: plane.platform.token }), paths.namespaces, namespaceObject(namespace));
  const account = async () => (await admin.get(`/api/v1/namespaces/${namespace}/serviceaccounts/default`)).status;
  await until(async () => (await account()) === 200, { what: "a ServiceAccount", deadlineMs: 30_000 });
  await given(admin, nodePath, { metadata: { name: node } });
  // A new node has taints that no pod tolerates, until its kubelet reports.
  await admin.patch(`${nodePath}/${node}`, { spec: { taints: null } });
  const annotations = { "storageclass.kubernetes.io/is-default-class": "true" };
  await given(admin, classPath, {
    metadata: { name: storageClass, annotations },
    provisioner: "none.example.test/none",
  });
  const accessModes = ["ReadWriteOnce"];
  const source = { storageClassName: storageClass, hostPath: { path: "/none" } };
  await given(admin, volumePath, {
    metadata: { name: volume },
    spec: { capacity: { storage: "1Gi" }, accessModes, ...source },
  });
}, 60_000);

afterAll(async () => {
  const places = [`${nodePath}/${node}`, `${paths.namespaces}/${namespace}`, `${classPath}/${storageClass}`];
  for (const path of [...places, `${volumePath}/${volume}`]) await admin.delete(path);
  const ended = once(manager, "exit");
  manager.kill();
  await ended;
});

const claimSpec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };

function named(kind: WorkloadKind): object {
  const labels = { app: kind.toLowerCase() };
  const scratch = { name: "scratch", ephemeral: { volumeClaimTemplate: { spec: claimSpec } } };
  const made = workload(kind, podSpec({ volumes: [scratch] })) as {
    spec: { template: object; selector?: object };
  };
  const selector = kind === "ReplicationController" ? labels : { matchLabels: labels };
  const ownClaims = { volumeClaimTemplates: [{ metadata: { name: "data" }, spec: claimSpec }] };
  const spec = {
    ...made.spec,
    template: { ...made.spec.template, metadata: { labels } },
    ...(kind !== "Job" && { selector }),
    ...(kind === "StatefulSet" && ownClaims),
  };
  return { metadata: { name: labels.app }, spec };
}

const itemsOf = (object: object) => (object as { items: { metadata: { name: string } }[] }).items;

test("Kubernetes' own controllers make pods and claims of what the policies let in, and bind a claim to its volume", async () => {
  await given(admin, claims, { metadata: { name: "bound" }, spec: claimSpec });
  for (const kind of kinds) await given(admin, workloadPaths[kind](namespace), named(kind));
  for (const kind of kinds) {
    const found = async () => itemsOf((await admin.get(`${pods}?labelSelector=app=${kind.toLowerCase()}`)).object)[0];
    const { metadata } = await until(found, { what: `a pod of the ${kind}`, deadlineMs: 30_000 });
    const claimed = async () => (await admin.get(`${claims}/${metadata.name}-scratch`)).status === 200;
    await until(claimed, { what: `a claim for the pod of the ${kind}`, deadlineMs: 30_000 });
  }
  const isBound = async () => {
    const all = itemsOf((await admin.get(claims)).object) as unknown as { status?: { phase?: string } }[];
    return all.some(({ status }) => status?.phase === "Bound");
  };
  await until(isBound, { what: "a claim to be bound", deadlineMs: 30_000 });
}, 120_000);

test("Kubernetes finds nothing to warn of in the types of their expressions", async () => {
  const read = async () => {
    const { object } = await admin.get("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies");
    return itemsOf(object).filter(({ metadata }) => metadata.name.startsWith("environment-")) as unknown as {
      metadata: { name: string; generation: number };
      status?: { observedGeneration?: number; typeChecking?: { expressionWarnings?: object[] } };
    }[];
  };
  const isChecked = async () =>
    (await read()).every(({ metadata, status }) => status?.observedGeneration === metadata.generation);
  await until(isChecked, { what: "the policies to be checked", deadlineMs: 30_000 });
  const warned = (await read()).filter(({ status }) => status?.typeChecking?.expressionWarnings !== undefined);
  expect(warned).toEqual([]);
}, 60_000);

test("an environment goes with all of it", async () => {
  await admin.delete(`${paths.namespaces}/${namespace}`);
  const isGone = async () => {
    // No kubelet ends them.
    for (const { metadata } of itemsOf((await admin.get(pods)).object)) {
      await admin.delete(`${pods}/${metadata.name}`, { gracePeriodSeconds: 0 });
    }
    return (await admin.get(`${paths.namespaces}/${namespace}`)).status === 404;
  };
  await until(isGone, { what: "the namespace to be gone", deadlineMs: 60_000, everyMs: 250 });
}, 90_000);
