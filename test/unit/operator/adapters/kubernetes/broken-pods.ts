import type { ContainerStatus, Pod } from "../../../../../operator/adapters/kubernetes/pod-objects.ts";
import type { Resource } from "../../../../../operator/adapters/kubernetes/resource-states.ts";

/** Creation time of every pod. */
export const BORN = "2026-01-01T00:00:00Z";
/** The time of the diagnosis. */
export const NOW = new Date("2026-01-01T00:09:00Z");
/** The start of a pod's unreadiness. */
export const UNREADY = "2026-01-01T00:00:05Z";
const IMAGE = "registry.test/shop-api:abc";

interface Shape {
  readonly name?: string;
  /** Empty: no label. */
  readonly component?: string;
  readonly maker?: string;
  readonly born?: string;
  readonly phase?: string;
  readonly deleted?: boolean;
  readonly conditions?: NonNullable<Pod["status"]>["conditions"];
  readonly initial?: Partial<ContainerStatus>;
}

/** A pod in the kubelet's form, with one container. */
export function pod(container: Partial<ContainerStatus>, shape: Shape = {}): Pod {
  const { name = "backend-5f7c-x", component = "backend", maker = "rs-1", born = BORN, phase = "Running" } = shape;
  const status = (of: string, parts: Partial<ContainerStatus>) => ({
    name: of,
    ready: false,
    restartCount: 0,
    ...parts,
  });
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: "env-shop",
      uid: name,
      resourceVersion: "1",
      creationTimestamp: born,
      labels: component === "" ? {} : { "app.kubernetes.io/component": component },
      ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: maker, uid: maker }],
      ...(shape.deleted ? { deletionTimestamp: BORN } : {}),
    },
    spec: {
      initContainers: [{ name: "migrate", image: IMAGE }],
      containers: [
        {
          name: "backend",
          image: IMAGE,
          resources: { limits: { memory: "512Mi" } },
          startupProbe: { httpGet: { path: "/healthz", port: "http" } },
          readinessProbe: { httpGet: { path: "/ready", port: "http" } },
        },
      ],
    },
    status: {
      phase,
      conditions: shape.conditions ?? [{ type: "Ready", status: "False", lastTransitionTime: UNREADY }],
      containerStatuses: [status("backend", container)],
      ...(shape.initial ? { initContainerStatuses: [status("migrate", shape.initial)] } : {}),
    },
  };
}

/** The Deployment of a frontend whose pods the API server refuses with this message. */
export function refusedDeployment(message: string, generation = 1): Resource {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      name: "frontend",
      uid: "d",
      resourceVersion: "1",
      creationTimestamp: BORN,
      generation,
      labels: { "app.kubernetes.io/component": "frontend" },
    },
    status: {
      observedGeneration: 1,
      conditions: [
        { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message, lastTransitionTime: UNREADY },
      ],
    },
  };
}

export const waiting = (reason: string, message = "") => ({ state: { waiting: { reason, message } } });
export const ended = (exitCode: number, reason = "Error") => ({ terminated: { exitCode, reason } });
export const looping = { ...waiting("CrashLoopBackOff", "back-off 20s"), lastState: ended(2), restartCount: 3 };
/** A running container before the end of its start-up. */
export const running = { state: { running: { startedAt: BORN } }, started: false };
/** A registry's message about a missing image. */
export const PULL = 'failed to pull and unpack image "registry.test/shop-api:abc": not found';
/** The condition of a pod that fits on no node. */
export const unschedulable = {
  type: "PodScheduled",
  status: "False",
  reason: "Unschedulable",
  message: "0/1 nodes are available: 1 Insufficient memory.",
};
/** The condition of a pod that waits for its volume. */
export const unbound = {
  ...unschedulable,
  message: "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found",
};
/** The API server's message about an exhausted quota. */
export const EXCEEDED =
  'pods "frontend-7d9-x" is forbidden: exceeded quota: environment, requested: pods=1, used: pods=30';
