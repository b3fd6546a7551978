/**
 * Health of a chart's objects, one row per kind: healthy, progressing or degraded as in Argo CD, and its relevance to
 * users. A new kind is one row. https://github.com/argoproj/argo-cd/tree/master/gitops-engine/pkg/health
 */
import { present } from "../../../crds/present.ts";
import { type KubeObject, type ResourceType, resourceType } from "../../kit/client/objects.ts";
import type { PodProblemReason } from "../../ports/pods.ts";
import type { ObjectCondition, PodTemplate } from "./pod-objects.ts";

/** Fields read by the rows, of any kind. */
export interface Resource extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly paused?: boolean;
    readonly type?: string;
    readonly ingressClassName?: string;
    readonly storageClassName?: string;
    /** Present for workloads. */
    readonly template?: PodTemplate;
    /** Present for a CronJob. */
    readonly jobTemplate?: { readonly spec?: { readonly template?: PodTemplate } };
    /** Present for a Job. */
    readonly completions?: number;
    readonly parallelism?: number;
    readonly updateStrategy?: { readonly type?: string; readonly rollingUpdate?: { readonly partition?: number } };
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly conditions?: readonly ObjectCondition[];
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
    readonly readyReplicas?: number;
    readonly desiredNumberScheduled?: number;
    readonly currentNumberScheduled?: number;
    readonly updatedNumberScheduled?: number;
    readonly numberAvailable?: number;
    readonly numberReady?: number;
    /** References for a CronJob, a number for a Job. */
    readonly active?: number | readonly unknown[];
    readonly succeeded?: number;
    readonly failed?: number;
    readonly lastScheduleTime?: string;
    readonly lastSuccessfulTime?: string;
    readonly phase?: string;
    readonly loadBalancer?: { readonly ingress?: readonly unknown[] };
    readonly parents?: readonly { readonly conditions?: readonly ObjectCondition[] }[];
  };
}

/** A problem of an object. */
export interface ResourceState {
  /** True when it carries no traffic: an environment is ready without it. */
  readonly isQuiet?: boolean;
  /** Reason for conditions; `ResourceNotReady` may pass by itself. */
  readonly reason: Extract<PodProblemReason, "JobFailed" | "ResourceDegraded" | "ResourceNotReady">;
  /** Problem, for users; absent where the object only waits for its pods, which have the reason. */
  readonly what?: string;
  readonly remedy?: string;
  /** The cluster's message. */
  readonly said?: string | undefined;
  /** Start, by the cluster's clock. */
  readonly since?: string | undefined;
  /** True when events explain its missing pods. */
  readonly lacksPods?: boolean;
  /** True when its newest pod's last lines help. */
  readonly speaks?: boolean;
}

/** Pods of a workload. */
export interface PodCount {
  /** Desired pods; for a Job, completions. */
  readonly desired: number;
  /** Ready pods; for a Job, completed ones. */
  readonly ready: number;
}

interface Row {
  readonly type: ResourceType<Resource>;
  /** `undefined`: healthy. `usedClaims` are names of claims that living pods use. */
  readonly stateOf: (object: Resource, usedClaims: ReadonlySet<string>) => ResourceState | undefined;
  readonly podsOf?: (object: Resource) => PodCount;
}

const row = (
  [group, version, kind, plural]: readonly [string, string, string, string],
  stateOf: Row["stateOf"],
  podsOf?: Row["podsOf"],
): readonly [string, Row] => {
  const type = resourceType<Resource>({ group, version, kind, plural, namespaced: true });
  return [kind, { type, stateOf, ...present({ podsOf }) }];
};

const conditionOf = ({ status }: Resource, type: string) => status?.conditions?.find((one) => one.type === type);
const isTrue = (object: Resource, type: string) => conditionOf(object, type)?.status === "True";
const WAITS = { reason: "ResourceNotReady" } as const;

/** Kinds with a state, by name. */
export const RESOURCE_ROWS: ReadonlyMap<string, Row> = new Map([
  row(["apps", "v1", "Deployment", "deployments"], deploymentState, replicas),
  row(["apps", "v1", "StatefulSet", "statefulsets"], statefulSetState, replicas),
  row(["apps", "v1", "DaemonSet", "daemonsets"], daemonSetState, ({ status = {} }) => ({
    desired: status.desiredNumberScheduled ?? 0,
    ready: status.numberReady ?? 0,
  })),
  row(["batch", "v1", "Job", "jobs"], jobState, ({ spec = {}, status = {} }) => ({
    desired: spec.completions ?? spec.parallelism ?? 1,
    ready: status.succeeded ?? 0,
  })),
  row(["batch", "v1", "CronJob", "cronjobs"], cronJobState, ({ status = {} }) => ({
    // A run ends, so none has to be there.
    desired: Array.isArray(status.active) ? status.active.length : 0,
    ready: 0,
  })),
  row(["", "v1", "Service", "services"], serviceState),
  row(["networking.k8s.io", "v1", "Ingress", "ingresses"], ingressState),
  row(["gateway.networking.k8s.io", "v1", "HTTPRoute", "httproutes"], routeState),
  row(["", "v1", "PersistentVolumeClaim", "persistentvolumeclaims"], claimState),
  row(["autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers"], autoscalerState),
  row(["policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets"], budgetState),
]);

/** Kinds that are healthy once they exist. */
const STATELESS: ReadonlySet<string> = new Set(["ConfigMap", "Secret", "ServiceAccount"]);

/** True when the health of this kind's objects is known. */
export const hasKnownState = (kind: string) => RESOURCE_ROWS.has(kind) || STATELESS.has(kind);

/** Kinds that make pods. */
export const WORKLOAD_KINDS: readonly string[] = [...RESOURCE_ROWS].flatMap(([kind, { podsOf }]) =>
  podsOf === undefined ? [] : [kind],
);

/** Pod template of a workload; `undefined` for another kind. */
export const templateOf = ({ spec }: Resource): PodTemplate | undefined =>
  spec?.template ?? spec?.jobTemplate?.spec?.template;

function replicas({ spec = {}, status = {} }: Resource): PodCount {
  return { desired: spec.replicas ?? 1, ready: status.readyReplicas ?? 0 };
}

/** True before the kind's controller has seen the newest spec. */
const isUnobserved = ({ metadata, status }: Resource) => (status?.observedGeneration ?? 0) < (metadata.generation ?? 0);

function deploymentState(object: Resource): ResourceState | undefined {
  const { spec = {}, status = {} } = object;
  if (spec.paused) return { ...WAITS, what: "is paused", remedy: "set its spec.paused to false in the chart" };
  const desired = spec.replicas ?? 1;
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status;
  const isLate = conditionOf(object, "Progressing")?.reason === "ProgressDeadlineExceeded";
  if (isLate && !isUnobserved(object)) return { reason: "ResourceDegraded" };
  const isComplete = updatedReplicas >= desired && replicas <= updatedReplicas && availableReplicas >= updatedReplicas;
  return isComplete && !isUnobserved(object) ? undefined : WAITS;
}

function statefulSetState(object: Resource): ResourceState | undefined {
  const { spec = {}, status = {} } = object;
  const desired = spec.replicas ?? 1;
  const { type = "RollingUpdate", rollingUpdate } = spec.updateStrategy ?? {};
  const updated = type === "OnDelete" ? 0 : desired - (rollingUpdate?.partition ?? 0);
  const lacksPods = (status.replicas ?? 0) < desired;
  const isComplete = (status.readyReplicas ?? 0) >= desired && (status.updatedReplicas ?? 0) >= updated;
  return isComplete && !isUnobserved(object) ? undefined : { ...WAITS, lacksPods };
}

function daemonSetState(object: Resource): ResourceState | undefined {
  const { status = {} } = object;
  const { desiredNumberScheduled: desired = 0, currentNumberScheduled = 0 } = status;
  const isComplete = (status.updatedNumberScheduled ?? 0) >= desired && (status.numberAvailable ?? 0) >= desired;
  if (isComplete && !isUnobserved(object)) return undefined;
  return { ...WAITS, lacksPods: currentNumberScheduled < desired };
}

/** A CronJob's Job belongs to the CronJob. */
function jobState(object: Resource): ResourceState | undefined {
  if (object.metadata.ownerReferences?.some(({ kind }) => kind === "CronJob")) return undefined;
  const failed = conditionOf(object, "Failed");
  if (failed?.status === "True") {
    const remedy = "fix the cause in its last lines, and deploy the new commit or setting";
    const { message: said, lastTransitionTime: since } = failed;
    return { reason: "JobFailed", what: "failed", remedy, said, since, speaks: true };
  }
  if (isTrue(object, "Complete")) return undefined;
  if (isTrue(object, "Suspended")) {
    return { ...WAITS, isQuiet: true, what: "is suspended", remedy: "set its spec.suspend to false to have it run" };
  }
  const { active, succeeded = 0, failed: failures = 0 } = object.status ?? {};
  const remedy = "see its last lines; a Job has to end, and what serves belongs into a Deployment";
  const lacksPods = !active && succeeded + failures === 0;
  return { ...WAITS, what: "has not ended", remedy, lacksPods, speaks: true };
}

function cronJobState({ status = {} }: Resource): ResourceState | undefined {
  const { active, lastScheduleTime, lastSuccessfulTime } = status;
  if (lastScheduleTime === undefined || lastSuccessfulTime === undefined) return undefined;
  const isActive = Array.isArray(active) && active.length > 0;
  if (isActive || lastSuccessfulTime >= lastScheduleTime) return undefined;
  const what = "did not succeed when it ran last";
  return { isQuiet: true, reason: "ResourceDegraded", what, remedy: "see the log of its last Job" };
}

function serviceState({ spec = {}, status = {} }: Resource): ResourceState | undefined {
  if (spec.type !== "LoadBalancer" || (status.loadBalancer?.ingress ?? []).length > 0) return undefined;
  return { ...WAITS, what: "has no load balancer yet", remedy: "use the type ClusterIP and an Ingress" };
}

function ingressState({ spec = {}, status = {} }: Resource): ResourceState | undefined {
  if ((status.loadBalancer?.ingress ?? []).length > 0) return undefined;
  const { ingressClassName } = spec;
  const served =
    ingressClassName === undefined ? "it names no class" : `nothing serves its class '${ingressClassName}'`;
  const remedy = "name an IngressClass of the cluster, or have its controller publish its address";
  return { ...WAITS, what: `has no address: ${served}`, remedy };
}

function routeState({ status = {} }: Resource): ResourceState | undefined {
  const conditions = (status.parents ?? []).flatMap((parent) => parent.conditions ?? []);
  const isOf = ["Accepted", "ResolvedRefs"];
  const refused = conditions.find((condition) => isOf.includes(condition.type) && condition.status === "False");
  const remedy = "correct its parentRefs, host names and backends";
  if (refused !== undefined) {
    return { reason: "ResourceDegraded", what: "is not accepted by its Gateway", remedy, said: refused.message };
  }
  return conditions.length > 0 ? undefined : { ...WAITS, what: "has no answer of its Gateway", remedy };
}

/** A class that waits for the first consumer binds a claim only for a pod, and an unused claim blocks none. */
function claimState({ metadata, spec = {}, status = {} }: Resource, usedClaims: ReadonlySet<string>) {
  if (status.phase === "Bound") return undefined;
  if (status.phase === "Lost") {
    const remedy = "delete it, and have it made anew";
    return { reason: "ResourceDegraded", what: "has lost its volume", remedy } as const;
  }
  const isQuiet = !usedClaims.has(metadata.name);
  const ofClass = spec.storageClassName === undefined ? "" : ` of the class '${spec.storageClassName}'`;
  const what = `waits for a volume${ofClass}${isQuiet ? ", and no pod uses it" : ""}`;
  return { ...WAITS, isQuiet, what, remedy: "name a storage class of the cluster, or leave it out" };
}

/** https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#autoscaler-conditions */
function autoscalerState(object: Resource): ResourceState | undefined {
  const conditions = object.status?.conditions ?? [];
  const failed = conditions.find(
    ({ status, reason = "" }) => status === "False" && (reason.startsWith("Failed") || reason === "InvalidSelector"),
  );
  if (failed !== undefined) {
    const remedy = "install a metrics server, or switch it off in the values";
    return { isQuiet: true, reason: "ResourceDegraded", what: "can't scale", remedy, said: failed.message };
  }
  const isAble = isTrue(object, "AbleToScale") || isTrue(object, "ScalingLimited");
  return isAble ? undefined : { ...WAITS, isQuiet: true, what: "has not begun", remedy: "wait for its first figures" };
}

function budgetState({ status = {} }: Resource): ResourceState | undefined {
  const refused = status.conditions?.find(
    ({ status: state, reason }) => state === "False" && reason !== "InsufficientPods",
  );
  if (refused === undefined) return undefined;
  const remedy = "correct its selector";
  return { isQuiet: true, reason: "ResourceDegraded", what: "protects nothing", remedy, said: refused.message };
}
