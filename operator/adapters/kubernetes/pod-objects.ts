import { podKind, secretKind } from "../../kit/client/kinds.ts";
import { type KubeObject, resourceType } from "../../kit/client/objects.ts";

/** Used part of a Pod. https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/ */
export interface Pod extends KubeObject {
  readonly spec?: PodSpec;
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly ObjectCondition[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

/** Template of a workload's pods. */
export interface PodTemplate {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: PodSpec;
}

export interface PodSpec {
  readonly terminationGracePeriodSeconds?: number;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly {
    readonly secret?: { readonly secretName?: string; readonly optional?: boolean };
    readonly persistentVolumeClaim?: { readonly claimName: string };
    readonly projected?: { readonly sources?: readonly { readonly secret?: PodSecretReference }[] };
  }[];
}

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly envFrom?: readonly { readonly secretRef?: PodSecretReference }[];
  readonly env?: readonly { readonly valueFrom?: { readonly secretKeyRef?: PodSecretReference } }[];
  readonly resources?: { readonly limits?: Readonly<Record<string, string>> };
  readonly startupProbe?: Probe;
  readonly readinessProbe?: Probe;
}

/** An optional one may name a missing Secret. */
export interface PodSecretReference {
  readonly name: string;
  readonly optional?: boolean;
}

export interface Probe {
  readonly httpGet?: { readonly path?: string; readonly port: string | number };
}

/** Condition of a pod or another object. */
export interface ObjectCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

export interface ContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly started?: boolean;
  readonly restartCount: number;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
}

interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: string };
  readonly terminated?: Terminated;
}

export interface Terminated {
  readonly exitCode: number;
  readonly signal?: number;
  readonly startedAt?: string | null;
  readonly finishedAt?: string | null;
  readonly reason?: string;
  readonly message?: string;
}

/** Warning: https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/ */
export interface WarningEvent extends KubeObject {
  readonly involvedObject: { readonly kind?: string; readonly uid?: string };
  readonly reason?: string;
  readonly message?: string;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
}

export interface SecretObject extends KubeObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

/** Statuses of all containers of a pod, in the order of their start. */
export const containerStatuses = ({ status }: Pod): readonly ContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
];

/** Containers of a pod or template, in the order of their start. */
export const containersOf = (spec: PodSpec | undefined): readonly Container[] => [
  ...(spec?.initContainers ?? []),
  ...(spec?.containers ?? []),
];

/** True when the pod may serve. */
export const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True") === true;

export const podType = resourceType<Pod>(podKind);
export const secretType = resourceType<SecretObject>(secretKind);
/** Events of the core group: only there can a selector use their type. */
export const warningType = resourceType<WarningEvent>({
  group: "",
  version: "v1",
  kind: "Event",
  plural: "events",
  namespaced: true,
});
