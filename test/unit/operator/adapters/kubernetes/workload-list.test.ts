import { describe, expect, test } from "@jest/globals";
import type { Pod } from "../../../../../operator/adapters/kubernetes/pod-objects.ts";
import { findingsOf } from "../../../../../operator/adapters/kubernetes/pod-problems.ts";
import { type Resource, WORKLOAD_KINDS } from "../../../../../operator/adapters/kubernetes/resource-states.ts";
import { workloadsOf } from "../../../../../operator/adapters/kubernetes/workloads.ts";
import { BORN, looping, NOW, pod, running } from "./broken-pods.ts";

const IMAGE = "registry.test/shop-api:abc";
const template = (labels: Readonly<Record<string, string>> = {}) => ({
  metadata: { labels },
  spec: {
    initContainers: [{ name: "migrate", image: IMAGE }],
    containers: [
      { name: "main", image: IMAGE },
      { name: "beside", image: "registry.test/proxy:1" },
    ],
  },
});
const IMAGES = [IMAGE, "registry.test/proxy:1"];

function templateIn(kind: string): NonNullable<Resource["spec"]> {
  if (kind === "Service") return {};
  return kind === "CronJob" ? { jobTemplate: { spec: { template: template() } } } : { template: template() };
}

function object(kind: string, name: string, parts: Pick<Resource, "spec" | "status">, cronJob?: string): Resource {
  const owner = { apiVersion: "batch/v1", kind: "CronJob", name: cronJob ?? "", uid: `CronJob/${cronJob}` };
  return {
    apiVersion: "v1",
    kind,
    metadata: {
      name,
      namespace: "env-shop",
      uid: `${kind}/${name}`,
      resourceVersion: "1",
      creationTimestamp: BORN,
      ...(cronJob === undefined ? {} : { ownerReferences: [owner] }),
    },
    spec: {
      ...templateIn(kind),
      ...parts.spec,
    },
    status: { observedGeneration: 1, ...parts.status },
  };
}

/** A pod of such an object; a Deployment's belongs to its ReplicaSet. */
function podOf(kind: string, name: string, container: Parameters<typeof pod>[0], shape: object = {}): Pod {
  const made = pod(container, { name: `${name}-x`, component: "", ...shape });
  const owner =
    kind === "Deployment"
      ? { kind: "ReplicaSet", name: `${name}-5f7c`, uid: "rs" }
      : { kind, name, uid: `${kind}/${name}` };
  const labels = { ...made.metadata.labels, ...(kind === "Deployment" ? { "pod-template-hash": "5f7c" } : {}) };
  return { ...made, metadata: { ...made.metadata, labels, ownerReferences: [{ apiVersion: "v1", ...owner }] } };
}

const listed = (resources: readonly Resource[], pods: readonly Pod[] = []) =>
  workloadsOf({ pods, resources }, findingsOf({ pods, resources }, NOW), {
    selectors: { backend: {} },
    services: ["database"],
  });

const serving = {
  status: { replicas: 2, updatedReplicas: 2, availableReplicas: 2, readyReplicas: 2 },
  spec: { replicas: 2 },
};

describe("the list of workloads", () => {
  test.each<[string, Resource, object]>([
    ["a Deployment has the pods that it wants", object("Deployment", "api", serving), { desired: 2, ready: 2 }],
    [
      "a StatefulSet that wants none has none",
      object("StatefulSet", "api", { spec: { replicas: 0 } }),
      { desired: 0, ready: 0 },
    ],
    [
      "a DaemonSet has one on each node",
      object("DaemonSet", "api", { status: { desiredNumberScheduled: 3, numberReady: 1 } }),
      { desired: 3, ready: 1 },
    ],
    [
      "a Job has the pods that have to end well, and that have",
      object("Job", "api", { spec: { completions: 2 }, status: { succeeded: 1, active: 1 } }),
      { desired: 2, ready: 1 },
    ],
    ["a CronJob has its runs", object("CronJob", "api", { status: { active: [{}] } }), { desired: 1, ready: 0 }],
  ])("%s", (_name, resource, expected) => {
    const [first, ...more] = listed([resource]);
    expect(first).toMatchObject({ kind: resource.kind, name: "api", restarts: 0, images: IMAGES, ...expected });
    expect(more).toEqual([]);
  });

  test("has a row for each kind of the table", () => {
    expect([...WORKLOAD_KINDS].sort()).toEqual(["CronJob", "DaemonSet", "Deployment", "Job", "StatefulSet"]);
  });

  test("has no objects that make no pods", () => {
    expect(listed([object("Service", "api", {})])).toEqual([]);
  });

  test("counts restarts of all containers of the current pods, and says what is wrong with them", () => {
    const pods = [
      podOf("Deployment", "api", { ...looping, restartCount: 4 }, { initial: { restartCount: 1 } }),
      podOf("Deployment", "api", { ready: true, ...running, restartCount: 2 }, { name: "api-y" }),
      podOf("Deployment", "api", { restartCount: 100 }, { name: "gone", deleted: true }),
    ];
    const [first] = listed([object("Deployment", "api", { ...serving, status: { replicas: 2 } })], pods);
    expect(first).toMatchObject({
      restarts: 7,
      problem: expect.stringMatching(
        /^container 'backend' of image '.*' ends soon after every start \(exit code 2\): fix/,
      ),
    });
  });

  test("says what is wrong with one that carries no traffic, too", () => {
    const suspended = object("Job", "seed", {
      status: { conditions: [{ type: "Suspended", status: "True" }] },
    });
    expect(listed([suspended])[0]?.problem).toBe("is suspended: set its spec.suspend to false to have it run");
  });

  test("has no words of the cluster, which may have to be masked", () => {
    const failed = object("Job", "seed", {
      status: { conditions: [{ type: "Failed", status: "True", message: "hunter2" }] },
    });
    expect(listed([failed])[0]?.problem).toMatch(/^failed: fix the cause/);
    expect(JSON.stringify(listed([failed]))).not.toContain("hunter2");
  });

  test("has a CronJob, and not its Jobs nor their pods", () => {
    const cron = object("CronJob", "report", {});
    const job = object("Job", "report-29", {}, "report");
    const found = listed([cron, job], [podOf("Job", "report-29", { ready: true, ...running, restartCount: 3 })]);
    expect(found.map(({ kind, name, restarts }) => [kind, name, restarts])).toEqual([["CronJob", "report", 3]]);
  });

  test("has whatever else has pods, of how many it does not know", () => {
    const ready = [{ type: "Ready", status: "True" }];
    const [first] = listed([], [podOf("Rollout", "api", { ready: true, ...running }, { conditions: ready })]);
    expect(first).toMatchObject({ kind: "Rollout", name: "api", ready: 1, images: [IMAGE] });
    expect(first).not.toHaveProperty("desired");
  });

  test("says the component of each, and begins with the components", () => {
    const labelled = (kind: string, name: string, component: string) =>
      object(kind, name, { spec: { template: template({ "app.kubernetes.io/component": component }) } });
    const found = listed([
      labelled("StatefulSet", "database", "database"),
      labelled("Deployment", "worker", "worker"),
      labelled("Deployment", "api", "backend"),
    ]);
    expect(found.map(({ name, component }) => [name, component])).toEqual([
      ["api", "backend"],
      ["worker", undefined],
      ["database", "database"],
    ]);
  });

  test("has those that no label speaks of with the backend", () => {
    const found = listed([object("Deployment", "podinfo", {}), object("StatefulSet", "redis", {})]);
    expect(found.map(({ name, component }) => [name, component])).toEqual([
      ["podinfo", "backend"],
      ["redis", "backend"],
    ]);
  });
});
