import { elapsedMs } from "../../kit/time/clock.ts";
import { POD_PROBLEM_REASONS, type PodProblem, type PodProblemReason } from "../../ports/pods.ts";
import type { Container, ContainerStatus, Deployment, Pod, Probe, Terminated } from "./pod-objects.ts";

/** A problem before its evidence is gathered, and where the evidence is. */
export interface Finding extends Omit<PodProblem, "evidence"> {
  /** What the cluster says of it. */
  readonly said: string;
  /** The pod with the problem, where there is one. */
  readonly pod?: Pod;
  /** The container of it whose last lines tell more. */
  readonly speaker?: { readonly container: string; readonly isPrevious: boolean };
}

/** So often a container ends before it counts as a loop: by then the first pauses between restarts, some 30 s, are over. */
const LOOP_RESTARTS = 3;
/** A container that ran for so long has left the loop, however often it ended before: the kubelet starts it at once again. */
const LEFT_LOOP_MS = 600_000;

/** Says which component an object belongs to. */
export const COMPONENT_LABEL = "app.kubernetes.io/component";

/** What keeps an environment's pods from serving now, the gravest first, one a component. */
export function problemsOf(pods: readonly Pod[], deployments: readonly Deployment[], now: Date): readonly Finding[] {
  const ofPods = currentPods(pods).flatMap((pod) => podTroubles(pod, now));
  const findings = [...ofPods, ...deployments.flatMap(refusals)].sort(byGravity);
  const firsts = new Map<string, Finding>();
  for (const finding of findings) if (!firsts.has(finding.component)) firsts.set(finding.component, finding);
  return [...firsts.values()];
}

function byGravity(one: Finding, other: Finding): number {
  const rank = ({ reason }: Finding) => POD_PROBLEM_REASONS.indexOf(reason);
  return rank(one) - rank(other) || one.component.localeCompare(other.component);
}

/**
 * The pods that count: what ended by itself was replaced already, and of several makers of one component (the
 * ReplicaSets before and after an update) the one that made the newest pod is the one that is wanted.
 */
export function currentPods(pods: readonly Pod[]): readonly Pod[] {
  const living = pods.filter(
    ({ metadata, status }) =>
      metadata.deletionTimestamp === undefined && status?.phase !== "Succeeded" && status?.phase !== "Failed",
  );
  const newest = new Map<string, Pod>();
  for (const pod of living) {
    const former = newest.get(componentOf(pod));
    if (former === undefined || former.metadata.creationTimestamp < pod.metadata.creationTimestamp)
      newest.set(componentOf(pod), pod);
  }
  return living
    .filter((pod) => makerOf(pod) === makerOf(newest.get(componentOf(pod))))
    .sort((one, other) => one.metadata.name.localeCompare(other.metadata.name));
}

const makerOf = (pod: Pod | undefined) => pod?.metadata.ownerReferences?.[0]?.uid;

/** The component of a pod or a Deployment by its label; without one, the name of what makes it. */
export function componentOf({ metadata }: Pod | Deployment): string {
  const { [COMPONENT_LABEL]: component, "pod-template-hash": hash = "" } = metadata.labels ?? {};
  const maker = metadata.ownerReferences?.[0]?.name ?? metadata.name;
  return component ?? (hash !== "" && maker.endsWith(`-${hash}`) ? maker.slice(0, -hash.length - 1) : maker);
}

/** Why a Deployment's pods don't even come to be: only its own condition says so. */
function refusals(deployment: Deployment): readonly Finding[] {
  const { status, metadata } = deployment;
  const refused = status?.conditions?.find(({ type }) => type === "ReplicaFailure");
  if (refused?.status !== "True" || status?.observedGeneration !== metadata.generation) return [];
  const component = componentOf(deployment);
  const said = refused.message ?? "";
  const since = new Date(refused.lastTransitionTime ?? metadata.creationTimestamp);
  // The quota's admission says it in these words, and nothing but words tells it from other refusals.
  const isQuota = said.includes("exceeded quota");
  if (!isQuota) {
    const what = "the cluster refuses to create its pods";
    return [{ reason: "PodRefused", component, what, remedy: "correct the pod's template in the chart", since, said }];
  }
  const what = "the environment's quota leaves no room for its pods";
  const remedy = "lower replicas or resources (spec.overrides), or have the quota raised";
  return [{ reason: "QuotaExceeded", component, what, remedy, since, said }];
}

function podTroubles(pod: Pod, now: Date): readonly Finding[] {
  const { status } = pod;
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status === "False" && scheduled.reason === "Unschedulable") {
    return [unscheduled(pod, scheduled.message)];
  }
  const initial = (status?.initContainerStatuses ?? []).map((container) => ({ container, isProbed: false }));
  const main = (status?.containerStatuses ?? []).map((container) => ({ container, isProbed: true }));
  return [...initial, ...main].flatMap((one) => containerTroubles(pod, one, now));
}

/** The scheduler says both in one reason, and nothing but words tells them apart. */
function unscheduled(pod: Pod, said = ""): Finding {
  if (!/persistent ?volume|volume node affinity/i.test(said)) {
    const remedy = "lower its resources (spec.overrides), or have a node added";
    return finding(pod, "Unschedulable", { what: "no node has room for its pod", remedy, said });
  }
  const remedy = "install a default storage class with a provisioner, or name another class in the chart";
  return finding(pod, "VolumeMissing", { what: "there is no volume for its claim", remedy, said });
}

const NO_IMAGE = [
  ...["ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError"],
  ...["RegistryUnavailable", "SignatureValidationFailed"],
];
const NO_CONFIGURATION = ["CreateContainerConfigError", "CreateContainerError"];

function containerTroubles(
  pod: Pod,
  { container, isProbed }: { readonly container: ContainerStatus; readonly isProbed: boolean },
  now: Date,
): readonly Finding[] {
  const { ready, state } = container;
  if (ready) return [];
  const { reason = "", message = "" } = state?.waiting ?? {};
  if (NO_IMAGE.includes(reason)) return [imageTrouble(pod, container, message)];
  if (NO_CONFIGURATION.includes(reason)) {
    const what = `${named(pod, container)} can't be created`;
    const remedy = "correct the Secret, ConfigMap or volume that the error below names";
    return [finding(pod, "ContainerMisconfigured", { what, remedy, said: message })];
  }
  const ended = endInLoop(container, now);
  if (ended !== undefined) return [loopTrouble(pod, container, ended)];
  return isProbed && state?.running !== undefined ? [probeTrouble(pod, container)] : [];
}

/** How it ended last, when it does so again and again. */
function endInLoop({ state, lastState, restartCount }: ContainerStatus, now: Date): Terminated | undefined {
  const ended = state?.terminated ?? lastState?.terminated;
  if (ended === undefined || restartCount < LOOP_RESTARTS) return undefined;
  const { startedAt, finishedAt } = ended;
  const hasRunLong = ranLong(startedAt, new Date(finishedAt ?? now)) || ranLong(state?.running?.startedAt, now);
  return hasRunLong ? undefined : ended;
}

/** The API server writes an unknown time as null. */
const ranLong = (startedAt: string | null | undefined, until: Date) =>
  typeof startedAt === "string" && elapsedMs(new Date(startedAt), until) >= LEFT_LOOP_MS;

function imageTrouble(pod: Pod, container: ContainerStatus, message: string): Finding {
  const { image = "its image" } = specOf(pod, container) ?? {};
  const remedy =
    "build and push it (is its pipeline done?), correct image.repository and image.tagTemplate of the Repository, or " +
    "give the cluster access to the registry";
  // Between two pulls the message is the same, with a prefix.
  const said = message.replace(/^Back-off pulling image "[^"]*":? ?/, "");
  return finding(pod, "ImagePullFailed", { what: `image '${image}' can't be pulled`, remedy, said });
}

function loopTrouble(pod: Pod, container: ContainerStatus, ended: Terminated): Finding {
  const how = ended.signal ? `signal ${ended.signal}` : `exit code ${ended.exitCode}`;
  const limit = specOf(pod, container)?.resources?.limits?.memory;
  const isOutOfMemory = ended.reason === "OOMKilled";
  const what = isOutOfMemory
    ? `is killed repeatedly because it needs more memory than its limit${limit ? ` of ${limit}` : ""} (OOMKilled)`
    : `ends soon after every start (${how})`;
  const remedy = isOutOfMemory
    ? "raise resources.limits.memory (spec.overrides), or make it use less"
    : "fix the cause in its last lines, and deploy the new commit or setting";
  const problem = finding(pod, "CrashLoop", { what: `${named(pod, container)} ${what}`, remedy, said: ended.message });
  return { ...problem, speaker: { container: container.name, isPrevious: container.state?.running !== undefined } };
}

function probeTrouble(pod: Pod, container: ContainerStatus): Finding {
  const spec = specOf(pod, container);
  const isStarting = container.started === false && spec?.startupProbe !== undefined;
  const probe = isStarting ? spec?.startupProbe : spec?.readinessProbe;
  const what = `${named(pod, container)} runs, but its ${isStarting ? "startup" : "readiness"} probe${asked(probe)} fails`;
  const remedy = "make it answer 2xx or 3xx there, or correct healthPath and port of the Repository";
  return {
    ...finding(pod, "ProbeFailing", { what, remedy }),
    speaker: { container: container.name, isPrevious: false },
  };
}

const asked = (probe: Probe | undefined) =>
  probe?.httpGet === undefined ? "" : ` (GET ${probe.httpGet.path ?? "/"} on port ${probe.httpGet.port})`;

function specOf({ spec }: Pod, { name }: ContainerStatus): Container | undefined {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].find((container) => container.name === name);
}

/** With its image: words about another image are other words. */
function named(pod: Pod, container: ContainerStatus): string {
  const { image } = specOf(pod, container) ?? {};
  return `container '${container.name}'${image === undefined ? "" : ` of image '${image}'`}`;
}

function finding(
  pod: Pod,
  reason: PodProblemReason,
  { said = "", ...texts }: Pick<Finding, "what" | "remedy"> & { readonly said?: string | undefined },
): Finding {
  const ready = pod.status?.conditions?.find(({ type }) => type === "Ready");
  const since = new Date(ready?.lastTransitionTime ?? pod.metadata.creationTimestamp);
  return { reason, component: componentOf(pod), ...texts, since, said, pod };
}
