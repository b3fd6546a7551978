import { describe, expect, test } from "@jest/globals";
import { ADMITTED_KINDS } from "../../../../../operator/adapters/argocd/objects.ts";
import type { Pod, WarningEvent } from "../../../../../operator/adapters/kubernetes/pod-objects.ts";
import { findingsOf } from "../../../../../operator/adapters/kubernetes/pod-problems.ts";
import { hasKnownState, type Resource } from "../../../../../operator/adapters/kubernetes/resource-states.ts";
import { BORN, EXCEEDED, NOW, pod, running, waiting } from "./broken-pods.ts";

type Owner = NonNullable<Pod["metadata"]["ownerReferences"]>[number];

const object = (kind: string, parts: Pick<Resource, "spec" | "status">, owner?: Partial<Owner>): Resource => ({
  apiVersion: "v1",
  kind,
  ...parts,
  metadata: {
    name: "one",
    namespace: "env-shop",
    uid: `uid-${kind}`,
    resourceVersion: "1",
    generation: 1,
    creationTimestamp: BORN,
    ...(owner ? { ownerReferences: [{ apiVersion: "v1", kind: "", name: "", uid: "", ...owner }] } : {}),
  },
});
const said = (type: string, status: string, reason = "", message = "") => ({ type, status, reason, message });
const podOf = (kind: string, container: Parameters<typeof pod>[0], more: object = {}): Pod => {
  const made = pod(container, { component: "", name: "one-x", ...more });
  const ownerReferences = [{ apiVersion: "v1", kind, name: "one", uid: `uid-${kind}` }];
  return { ...made, metadata: { ...made.metadata, ownerReferences } };
};
const warning = (about: string, reason: string, message: string, at = BORN): WarningEvent => ({
  apiVersion: "v1",
  kind: "Event",
  reason,
  message,
  lastTimestamp: at,
  firstTimestamp: at,
  metadata: { name: "w", uid: "w", resourceVersion: "1", creationTimestamp: at },
  involvedObject: { uid: about },
});
const complete = {
  spec: { replicas: 1 },
  status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1, readyReplicas: 1 },
};
const claimPod = (phase: string): Pod => {
  const made = pod(running, { phase });
  const volumes = [{ persistentVolumeClaim: { claimName: "one" } }];
  return { ...made, spec: { ...made.spec, containers: made.spec?.containers ?? [], volumes } };
};
const REFUSED = 'create Pod one-0 in StatefulSet one failed error: pods "one-0" is forbidden: violates PodSecurity';

const loud: readonly {
  name: string;
  resource: Resource;
  pods?: readonly Pod[];
  warnings?: readonly WarningEvent[];
  expected?: object;
}[] = [
  { name: "a Deployment whose pods are ready is well", resource: object("Deployment", complete) },
  {
    name: "a Deployment that was changed and not looked at yet is not, and its pods say why",
    resource: { ...object("Deployment", complete), metadata: { ...object("Deployment", {}).metadata, generation: 2 } },
    expected: { isServing: false, problems: [] },
  },
  {
    name: "a paused Deployment is named",
    resource: object("Deployment", { ...complete, spec: { paused: true } }),
    expected: { problems: [{ reason: "ResourceNotReady", what: "is paused" }] },
  },
  { name: "a StatefulSet whose pods are ready is well", resource: object("StatefulSet", complete) },
  {
    name: "a StatefulSet whose pods are refused says why, in the event's words",
    resource: object("StatefulSet", { spec: { replicas: 1 }, status: { observedGeneration: 1 } }),
    warnings: [warning("uid-StatefulSet", "FailedCreate", REFUSED)],
    expected: { problems: [{ reason: "PodRefused", component: "one", said: REFUSED }], needsWarnings: true },
  },
  {
    name: "a DaemonSet whose pods have no quota says so",
    resource: object("DaemonSet", { status: { observedGeneration: 1, desiredNumberScheduled: 1 } }),
    warnings: [warning("uid-DaemonSet", "FailedCreate", EXCEEDED)],
    expected: { problems: [{ reason: "QuotaExceeded", object: { kind: "DaemonSet", name: "one" }, said: EXCEEDED }] },
  },
  {
    name: "a Job whose pods are refused says why",
    resource: object("Job", { status: {} }),
    warnings: [warning("uid-Job", "FailedCreate", REFUSED)],
    expected: { problems: [{ reason: "PodRefused", object: { kind: "Job", name: "one" } }] },
  },
  {
    name: "a refusal that is older than a pod was overcome",
    resource: object("StatefulSet", { spec: { replicas: 2 }, status: { observedGeneration: 1, replicas: 1 } }),
    pods: [podOf("StatefulSet", { ready: true })],
    warnings: [warning("uid-StatefulSet", "FailedCreate", REFUSED, "2025-12-31T23:00:00Z")],
    expected: { problems: [], isServing: false },
  },
  {
    name: "a refusal of another object says nothing of this one",
    resource: object("StatefulSet", { status: { observedGeneration: 1 } }),
    warnings: [warning("another", "FailedCreate", REFUSED)],
    expected: { problems: [] },
  },
  {
    name: "a Job that is done is well",
    resource: object("Job", { status: { conditions: [said("Complete", "True")] } }),
  },
  {
    name: "a Job that failed is named with the pod that has its last lines",
    resource: object("Job", {
      status: { failed: 1, conditions: [said("Failed", "True", "", "has reached the limit")] },
    }),
    pods: [podOf("Job", { state: { terminated: { exitCode: 3 } } }, { phase: "Failed" })],
    expected: {
      problems: [
        { reason: "JobFailed", said: "has reached the limit", speaker: { container: "backend", isPrevious: false } },
      ],
    },
  },
  {
    name: "a Job that runs has not ended",
    resource: object("Job", { status: { active: 1 } }),
    pods: [podOf("Job", { ready: true, ...running })],
    expected: { problems: [{ reason: "ResourceNotReady", what: "has not ended", speaker: { container: "backend" } }] },
  },
  { name: "a Service within the cluster is well", resource: object("Service", { spec: { type: "ClusterIP" } }) },
  {
    name: "an Ingress whose class nothing serves is named with it",
    resource: object("Ingress", { spec: { ingressClassName: "haproxy" } }),
    expected: { problems: [{ what: "has no address: nothing serves its class 'haproxy'" }] },
  },
  {
    name: "an HTTPRoute that its Gateway refuses is named with the Gateway's words",
    resource: object("HTTPRoute", {
      status: { parents: [{ conditions: [said("Accepted", "False", "", "no host")] }] },
    }),
    expected: { problems: [{ reason: "ResourceDegraded", said: "no host" }] },
  },
  {
    name: "a claim that a pod waits for is named",
    resource: object("PersistentVolumeClaim", { spec: { storageClassName: "fast" }, status: { phase: "Pending" } }),
    pods: [claimPod("Pending")],
    expected: {
      isServing: false,
      problems: [{ reason: "ProbeFailing" }, { what: "waits for a volume of the class 'fast'" }],
    },
  },
];

const quiet: readonly { name: string; resource: Resource; pods?: readonly Pod[]; expected: object | undefined }[] = [
  {
    name: "a claim that no pod uses",
    resource: object("PersistentVolumeClaim", { status: { phase: "Pending" } }),
    pods: [claimPod("Succeeded")],
    expected: { what: expect.stringMatching(/^waits for a volume, and no pod uses it: /), isDegraded: false },
  },
  {
    name: "an autoscaler without metrics, in Kubernetes' words",
    resource: object("HorizontalPodAutoscaler", {
      status: {
        conditions: [
          said("AbleToScale", "True", "SucceededGetScale"),
          said("ScalingActive", "False", "FailedGetResourceMetric", "unable to get metrics"),
        ],
      },
    }),
    expected: { what: expect.stringMatching(/^can't scale: unable to get metrics: install/), isDegraded: true },
  },
  {
    name: "none is an autoscaler of what sleeps",
    resource: object("HorizontalPodAutoscaler", {
      status: { conditions: [said("AbleToScale", "True"), said("ScalingActive", "False", "ScalingDisabled")] },
    }),
    expected: undefined,
  },
  {
    name: "a suspended Job",
    resource: object("Job", { status: { conditions: [said("Suspended", "True")] } }),
    expected: { what: expect.stringMatching(/^is suspended: /), isDegraded: false },
  },
  {
    name: "a CronJob that did not succeed when it ran last",
    resource: object("CronJob", { status: { lastScheduleTime: NOW.toISOString(), lastSuccessfulTime: BORN } }),
    expected: { what: expect.stringMatching(/^did not succeed when it ran last/), isDegraded: true },
  },
  {
    name: "none is a CronJob that runs now",
    resource: object("CronJob", {
      status: { active: [{}], lastScheduleTime: NOW.toISOString(), lastSuccessfulTime: BORN },
    }),
    expected: undefined,
  },
  {
    name: "a budget that protects nothing",
    resource: object("PodDisruptionBudget", {
      status: { conditions: [said("DisruptionAllowed", "False", "SyncFailed")] },
    }),
    expected: { isDegraded: true },
  },
];

describe("an object of a chart", () => {
  test.each(loud)("$name", ({ resource, pods = [], warnings = [], expected }) => {
    const found = findingsOf({ pods, resources: [resource], warnings }, NOW);
    expect(found).toMatchObject(expected ?? { problems: [], quiet: [], isServing: true });
    expect(found.quiet).toEqual([]);
  });

  test("whose pods are a CronJob's counts for nothing that carries traffic", () => {
    const job = object("Job", { status: { active: 1 } }, { kind: "CronJob", name: "report" });
    const pods = [podOf("Job", { ...waiting("ErrImagePull", "no image") })];
    expect(findingsOf({ pods, resources: [job] }, NOW)).toMatchObject({ problems: [], isServing: true });
  });

  test("has a state, or none that can be wrong, whatever a chart may make", () => {
    expect(ADMITTED_KINDS.filter(({ kind }) => !hasKnownState(kind))).toEqual([]);
  });
});

describe("what is not well and carries no traffic", () => {
  test.each(quiet)("$name", ({ resource, pods = [], expected }) => {
    const found = findingsOf({ pods, resources: [resource] }, NOW);
    expect(found).toMatchObject({ isServing: true });
    expect(found.quiet).toEqual(
      expected === undefined ? [] : [expect.objectContaining({ kind: resource.kind, name: "one", ...expected })],
    );
  });
});

describe("a pod that lacks what its volumes name", () => {
  const creating = pod(waiting("ContainerCreating"), { phase: "Pending" });
  const missing = 'MountVolume.SetUp failed for volume "branding" : configmap "report-branding" not found';

  test("is reported in the event's words", () => {
    const warnings = [warning(creating.metadata.uid, "FailedMount", missing)];
    const { problems } = findingsOf({ pods: [creating], resources: [], warnings }, NOW);
    expect(problems).toMatchObject([{ reason: "VolumeMissing", what: "its pod lacks a volume", said: missing }]);
  });

  test("asks for events while it is being created, and no other pod does", () => {
    expect(findingsOf({ pods: [creating], resources: [] }, NOW).needsWarnings).toBe(true);
    expect(findingsOf({ pods: [pod(running)], resources: [] }, NOW).needsWarnings).toBe(false);
  });
});

test("pods of different Deployments count beside each other, although one label is on both", () => {
  const of = (name: string, born: string): Pod => {
    const made = pod(waiting("ErrImagePull", "no"), { name: `${name}-5f7c-x`, maker: `${name}-5f7c`, born });
    return {
      ...made,
      metadata: { ...made.metadata, labels: { ...made.metadata.labels, "pod-template-hash": "5f7c" } },
    };
  };
  const { problems } = findingsOf(
    { pods: [of("web", BORN), of("worker", "2025-12-31T00:00:00Z")], resources: [] },
    NOW,
  );
  expect(problems.map((problem) => problem.object)).toEqual([
    { kind: "Deployment", name: "web" },
    { kind: "Deployment", name: "worker" },
  ]);
});
