import { titleOf } from "../../../crds/object-title.ts";
import type { KubeObject } from "../../kit/client/objects.ts";
import { elapsedMs } from "../../kit/time/clock.ts";
import type { NamedObject } from "../../ports/deployer.ts";
import { POD_PROBLEM_REASONS, type PodProblem, type PodProblemReason, type QuietProblem } from "../../ports/pods.ts";
import {
  type Container,
  type ContainerStatus,
  containerStatuses,
  containersOf,
  type Pod,
  type Probe,
  type Terminated,
  type WarningEvent,
} from "./pod-objects.ts";
import { RESOURCE_ROWS, type Resource, type ResourceState } from "./resource-states.ts";

/** A problem without its evidence, and the evidence's place. */
export interface PodFinding extends Omit<PodProblem, "evidence"> {
  readonly said: string;
  /** The pod with the problem, if any. */
  readonly pod?: Pod;
  /** Container whose last lines help. */
  readonly speaker?: { readonly container: string; readonly isPrevious: boolean };
}

/** Restarts that count as a loop: by then the first pauses between them, some 30 s, are over. */
const LOOP_RESTARTS = 3;
/** A container that ran this long has left the loop: the kubelet restarts it at once. */
const LEFT_LOOP_MS = 600_000;

/** Label with the component of an object. */
export const COMPONENT_LABEL = "app.kubernetes.io/component";

/** Objects read from a namespace. */
export interface NamespaceState {
  readonly pods: readonly Pod[];
  readonly resources: readonly Resource[];
  /** Absent before they are read. */
  readonly warnings?: readonly WarningEvent[];
}

/** Problems in a namespace. */
export interface NamespaceFindings {
  readonly problems: readonly PodFinding[];
  readonly quiet: readonly QuietProblem[];
  readonly isServing: boolean;
  /** True when warnings would say more. */
  readonly needsWarnings: boolean;
}

/** Problems in a namespace, most severe first, one per workload. */
export function findingsOf({ pods, resources, warnings = [] }: NamespaceState, now: Date): NamespaceFindings {
  const makers = makersOf(resources);
  const current = servingPods(pods, makers);
  const creating = current.filter(isBeingCreated);
  const usedClaims = new Set(pods.filter(isLiving).flatMap(claimsOf));
  const states = resources.flatMap((object) => {
    const state = RESOURCE_ROWS.get(object.kind)?.stateOf(object, usedClaims);
    return state === undefined ? [] : [{ object, state }];
  });
  const loud = states.filter(({ state }) => !state.isQuiet);
  const findings = [
    ...current.flatMap((pod) => podTroubles({ pod, maker: makers(pod) }, now)),
    ...creating.flatMap((pod) => unmounted({ pod, maker: makers(pod) }, warnings)),
    ...resources.filter(({ kind }) => kind === "Deployment").flatMap(refusals),
    ...loud.filter(({ state }) => state.lacksPods).flatMap(({ object }) => refusedBy(object, pods, warnings)),
    ...loud.flatMap(({ object, state }) =>
      stateFinding(object, state, newestPod(pods, subjectOf(object).object, makers)),
    ),
  ].sort(byGravity);
  const firsts = new Map<string, PodFinding>();
  for (const finding of findings) {
    const key = titleOf(finding.object);
    if (!firsts.has(key)) firsts.set(key, finding);
  }
  return {
    problems: [...firsts.values()],
    quiet: states.filter(({ state }) => state.isQuiet).map(quietProblem),
    isServing: loud.length === 0,
    needsWarnings: creating.length > 0 || loud.some(({ state }) => state.lacksPods),
  };
}

function quietProblem({ object, state }: { object: Resource; state: ResourceState }): QuietProblem {
  const { kind, metadata } = object;
  const { what = "is not well", remedy, said } = state;
  const words = [what, said, remedy].filter((part) => part !== undefined && part !== "").join(": ");
  return { kind, name: metadata.name, what: words, isDegraded: state.reason !== "ResourceNotReady" };
}

function byGravity(one: PodFinding, other: PodFinding): number {
  const rank = ({ reason }: PodFinding) => POD_PROBLEM_REASONS.indexOf(reason);
  return rank(one) - rank(other) || titleOf(one.object).localeCompare(titleOf(other.object));
}

export type MakerOf = (pod: Pod) => NamedObject;

/** Finds a pod's owner in the chart: the Deployment behind a ReplicaSet, or the CronJob behind one of these Jobs. */
export function makersOf(resources: readonly Resource[]): MakerOf {
  const jobs = new Map(resources.filter(({ kind }) => kind === "Job").map((job) => [job.metadata.uid, job]));
  return (pod) => {
    const [owner] = pod.metadata.ownerReferences ?? [];
    if (owner === undefined) return { kind: "Pod", name: pod.metadata.name };
    if (owner.kind === "ReplicaSet") return deploymentOf(pod, owner.name);
    const cronJob = jobs.get(owner.uid)?.metadata.ownerReferences?.find(({ kind }) => kind === "CronJob");
    return { kind: (cronJob ?? owner).kind, name: (cronJob ?? owner).name };
  };
}

/** A ReplicaSet's name is its Deployment's with the template's hash. */
function deploymentOf({ metadata }: Pod, name: string): NamedObject {
  const { "pod-template-hash": hash = "" } = metadata.labels ?? {};
  if (hash !== "" && name.endsWith(`-${hash}`)) return { kind: "Deployment", name: name.slice(0, -hash.length - 1) };
  return { kind: "ReplicaSet", name };
}

const isLiving = ({ metadata, status }: Pod) =>
  metadata.deletionTimestamp === undefined && status?.phase !== "Succeeded" && status?.phase !== "Failed";

/** Living pods; of a Deployment's several ReplicaSets, during an update, only those of the one with the newest pod. */
export function currentPods(pods: readonly Pod[], makers: MakerOf): readonly Pod[] {
  const living = pods.filter(isLiving);
  const newest = new Map<string, Pod>();
  const groupOf = (pod: Pod) => {
    const { kind, name } = makers(pod);
    return kind === "ReplicaSet" ? (componentLabel(pod) ?? name) : titleOf({ kind, name });
  };
  for (const pod of living) {
    const former = newest.get(groupOf(pod));
    if (former === undefined || former.metadata.creationTimestamp < pod.metadata.creationTimestamp)
      newest.set(groupOf(pod), pod);
  }
  return living
    .filter((pod) => makerId(pod) === makerId(newest.get(groupOf(pod))))
    .sort((one, other) => one.metadata.name.localeCompare(other.metadata.name));
}

/** Current pods without runs of a CronJob. */
export const servingPods = (pods: readonly Pod[], makers: MakerOf): readonly Pod[] =>
  currentPods(pods, makers).filter((pod) => makers(pod).kind !== "CronJob");

/** Owners of living pods, each once, by kind and name. */
export function runningIn(pods: readonly Pod[], makers: MakerOf): readonly NamedObject[] {
  const owners = pods.filter(isLiving).map(makers);
  const byTitle = new Map(owners.map((maker) => [titleOf(maker), maker]));
  return [...byTitle.keys()].sort().map((title) => byTitle.get(title) as NamedObject);
}

const makerId = (pod: Pod | undefined) => pod?.metadata.ownerReferences?.[0]?.uid;
const componentLabel = ({ metadata }: KubeObject) => metadata.labels?.[COMPONENT_LABEL];
const claimsOf = ({ spec }: Pod) =>
  (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);

/** The object's newest pod, ended or not. */
export function newestPod(pods: readonly Pod[], object: NamedObject, makers: MakerOf): Pod | undefined {
  return podsMadeBy(pods, object, makers).reduce<Pod | undefined>(
    (newest, pod) => (newest && newest.metadata.creationTimestamp >= pod.metadata.creationTimestamp ? newest : pod),
    undefined,
  );
}

/** All pods of the object, ended ones too. */
export function podsMadeBy(pods: readonly Pod[], { kind, name }: NamedObject, makers: MakerOf): readonly Pod[] {
  return pods.filter((pod) => {
    const maker = makers(pod);
    return maker.kind === kind && maker.name === name;
  });
}

/** A Deployment's missing pods are explained by its own condition. */
function refusals(deployment: Resource): readonly PodFinding[] {
  const { status, metadata } = deployment;
  const refused = status?.conditions?.find(({ type }) => type === "ReplicaFailure");
  if (refused?.status !== "True" || status?.observedGeneration !== metadata.generation) return [];
  const since = refused.lastTransitionTime ?? metadata.creationTimestamp;
  return [refusal(deployment, refused.message ?? "", since)];
}

/** Other workloads' missing pods are explained only by events; one older than a pod of the same owner is obsolete. */
function refusedBy(object: Resource, pods: readonly Pod[], warnings: readonly WarningEvent[]): readonly PodFinding[] {
  const { uid } = object.metadata;
  const warning = latestAbout(uid, warnings, ["FailedCreate"]);
  if (warning === undefined) return [];
  const made = pods.filter((pod) => makerId(pod) === uid).map(({ metadata }) => metadata.creationTimestamp);
  if (made.some((at) => at > lastSeen(warning))) return [];
  return [refusal(object, warning.message ?? "", firstSeen(warning))];
}

const lastSeen = ({ lastTimestamp, eventTime, metadata }: WarningEvent) =>
  lastTimestamp ?? eventTime ?? metadata.creationTimestamp;
const firstSeen = ({ firstTimestamp, eventTime, metadata }: WarningEvent) =>
  firstTimestamp ?? eventTime ?? metadata.creationTimestamp;
const latestAbout = (uid: string, warnings: readonly WarningEvent[], reasons: readonly string[]) =>
  warnings
    .filter(({ reason = "", involvedObject }) => reasons.includes(reason) && involvedObject.uid === uid)
    .sort((one, other) => (lastSeen(one) < lastSeen(other) ? 1 : -1))[0];

function refusal(object: Resource, said: string, since: string): PodFinding {
  const about = { ...subjectOf(object), since: new Date(since), said };
  // Only these words of the quota's admission distinguish it from other refusals.
  if (!said.includes("exceeded quota")) {
    const what = "the cluster refuses to create its pods";
    return { reason: "PodRefused", ...about, what, remedy: "correct the pod's template in the chart" };
  }
  const what = "the environment's quota leaves no room for its pods";
  const remedy = "lower replicas or resources (spec.overrides), or have the quota raised";
  return { reason: "QuotaExceeded", ...about, what, remedy };
}

const subjectOf = (object: Resource) => ({
  component: componentLabel(object) ?? object.metadata.name,
  object: { kind: object.kind, name: object.metadata.name },
});

function stateFinding(object: Resource, state: ResourceState, pod: Pod | undefined): readonly PodFinding[] {
  const { reason, what, remedy = "", said = "", since = object.metadata.creationTimestamp, speaks } = state;
  if (what === undefined) return [];
  const speaker = speaks && pod !== undefined ? speakerOf(pod) : undefined;
  const place = speaker === undefined || pod === undefined ? {} : { pod, speaker };
  return [{ reason, ...subjectOf(object), what, remedy, said, since: new Date(since), ...place }];
}

/** Container with the best evidence: the first that failed, else the last that has begun. */
export function speakerOf(pod: Pod): PodFinding["speaker"] {
  const all = containerStatuses(pod);
  const hasBegun = ({ state, lastState }: ContainerStatus) =>
    state?.running !== undefined || state?.terminated !== undefined || lastState?.terminated !== undefined;
  const failed = all.find(({ state, lastState }) => (state?.terminated ?? lastState?.terminated)?.exitCode);
  const chosen = failed ?? all.findLast(hasBegun);
  if (chosen === undefined) return undefined;
  const { state, lastState } = chosen;
  const isAgain = state?.running !== undefined && chosen === failed && lastState?.terminated !== undefined;
  return { container: chosen.name, isPrevious: isAgain };
}

interface MadePod {
  readonly pod: Pod;
  readonly maker: NamedObject;
}

const NOT_BEGUN = ["ContainerCreating", "PodInitializing"];
const isBeingCreated = (pod: Pod) =>
  containerStatuses(pod).some(({ state }) => NOT_BEGUN.includes(state?.waiting?.reason ?? ""));

const NO_VOLUME = ["FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox"];

/** A pod's missing containers are explained only by events. */
function unmounted(made: MadePod, warnings: readonly WarningEvent[]): readonly PodFinding[] {
  const warning = latestAbout(made.pod.metadata.uid, warnings, NO_VOLUME);
  if (warning === undefined) return [];
  const what = warning.reason === "FailedCreatePodSandBox" ? "its pod can't be set up" : "its pod lacks a volume";
  const remedy = "have the chart make the ConfigMap, Secret or claim that the error below names, or correct the name";
  return [finding(made, "VolumeMissing", { what, remedy, said: warning.message })];
}

function podTroubles(made: MadePod, now: Date): readonly PodFinding[] {
  const { status } = made.pod;
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status === "False" && scheduled.reason === "Unschedulable") {
    return [unscheduled(made, scheduled.message)];
  }
  const initial = (status?.initContainerStatuses ?? []).map((container) => ({ container, isProbed: false }));
  const main = (status?.containerStatuses ?? []).map((container) => ({ container, isProbed: true }));
  return [...initial, ...main].flatMap((one) => containerTroubles(made, one, now));
}

/** The scheduler gives both one reason; only the words differ. */
function unscheduled(made: MadePod, said = ""): PodFinding {
  if (!/persistent ?volume|volume node affinity/i.test(said)) {
    const remedy = "lower its resources (spec.overrides), or have a node added";
    return finding(made, "Unschedulable", { what: "no node has room for its pod", remedy, said });
  }
  const remedy = "install a default storage class with a provisioner, or name another class in the chart";
  return finding(made, "VolumeMissing", { what: "there is no volume for its claim", remedy, said });
}

const NO_IMAGE = [
  "ErrImagePull",
  "ImagePullBackOff",
  "InvalidImageName",
  "ErrImageNeverPull",
  "ImageInspectError",
  "RegistryUnavailable",
  "SignatureValidationFailed",
];
const NO_CONFIGURATION = ["CreateContainerConfigError", "CreateContainerError"];

function containerTroubles(
  made: MadePod,
  { container, isProbed }: { readonly container: ContainerStatus; readonly isProbed: boolean },
  now: Date,
): readonly PodFinding[] {
  const { ready, state } = container;
  if (ready) return [];
  const { reason = "", message = "" } = state?.waiting ?? {};
  if (NO_IMAGE.includes(reason)) return [imageTrouble(made, container, message)];
  if (NO_CONFIGURATION.includes(reason)) {
    const what = `${named(made, container)} can't be created`;
    const remedy = "correct the Secret, ConfigMap or volume that the error below names";
    return [finding(made, "ContainerMisconfigured", { what, remedy, said: message })];
  }
  const ended = endInLoop(container, now);
  if (ended !== undefined) return [loopTrouble(made, container, ended)];
  return isProbed && state?.running !== undefined ? [probeTrouble(made, container)] : [];
}

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

function imageTrouble(made: MadePod, container: ContainerStatus, message: string): PodFinding {
  const { image = "its image" } = specOf(made.pod, container) ?? {};
  const remedy =
    "build and push it (is its pipeline done?), correct image.repository and image.tagTemplate of the Repository, or " +
    "give the cluster access to the registry";
  // Between two pulls the message has this prefix.
  const said = message.replace(/^Back-off pulling image "[^"]*":? ?/, "");
  return finding(made, "ImagePullFailed", { what: `image '${image}' can't be pulled`, remedy, said });
}

function loopTrouble(made: MadePod, container: ContainerStatus, ended: Terminated): PodFinding {
  const how = ended.signal ? `signal ${ended.signal}` : `exit code ${ended.exitCode}`;
  const limit = specOf(made.pod, container)?.resources?.limits?.memory;
  const isOutOfMemory = ended.reason === "OOMKilled";
  const what = isOutOfMemory
    ? `is killed repeatedly because it needs more memory than its limit${limit ? ` of ${limit}` : ""} (OOMKilled)`
    : `ends soon after every start (${how})`;
  const remedy = isOutOfMemory
    ? "raise resources.limits.memory (spec.overrides), or make it use less"
    : "fix the cause in its last lines, and deploy the new commit or setting";
  const texts = { what: `${named(made, container)} ${what}`, remedy, said: ended.message };
  return {
    ...finding(made, "CrashLoop", texts),
    speaker: { container: container.name, isPrevious: container.state?.running !== undefined },
  };
}

function probeTrouble(made: MadePod, container: ContainerStatus): PodFinding {
  const spec = specOf(made.pod, container);
  const isStarting = container.started === false && spec?.startupProbe !== undefined;
  const probe = isStarting ? spec?.startupProbe : spec?.readinessProbe;
  const what = `${named(made, container)} runs, but its ${isStarting ? "startup" : "readiness"} probe${requestOf(probe)} fails`;
  const remedy = "make it answer 2xx or 3xx there, or correct healthPath and port of the Repository";
  return {
    ...finding(made, "ProbeFailing", { what, remedy }),
    speaker: { container: container.name, isPrevious: false },
  };
}

const requestOf = (probe: Probe | undefined) =>
  probe?.httpGet === undefined ? "" : ` (GET ${probe.httpGet.path ?? "/"} on port ${probe.httpGet.port})`;

function specOf({ spec }: Pod, { name }: ContainerStatus): Container | undefined {
  return containersOf(spec).find((container) => container.name === name);
}

/** Names the image: a message about another image must differ. */
function named({ pod }: MadePod, container: ContainerStatus): string {
  const { image } = specOf(pod, container) ?? {};
  return `container '${container.name}'${image === undefined ? "" : ` of image '${image}'`}`;
}

function finding(
  { pod, maker }: MadePod,
  reason: PodProblemReason,
  { said = "", ...texts }: Pick<PodFinding, "what" | "remedy"> & { readonly said?: string | undefined },
): PodFinding {
  const ready = pod.status?.conditions?.find(({ type }) => type === "Ready");
  const since = new Date(ready?.lastTransitionTime ?? pod.metadata.creationTimestamp);
  return { reason, component: componentLabel(pod) ?? maker.name, object: maker, ...texts, since, said, pod };
}
