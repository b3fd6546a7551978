import pLimit from "p-limit";
import { COMPONENTS, namespaceName } from "../../../crds/names.ts";
import { titleOf } from "../../../crds/object-title.ts";
import { present } from "../../../crds/present.ts";
import { insteadOf, isForbidden } from "../../kit/client/errors.ts";
import type { Workload, Workloads } from "../../ports/api/pods.ts";
import { type ComponentRules, chosenPods, type Labelled } from "./component-pods.ts";
import { findingsIn, hasNamespace, type NamespaceReader } from "./namespace-state.ts";
import { containerStatuses, containersOf, isReady, type Pod, type PodSpec } from "./pod-objects.ts";
import { currentPods, makersOf, type NamespaceFindings, type NamespaceState } from "./pod-problems.ts";
import { RESOURCE_ROWS, type Resource, templateOf, WORKLOAD_KINDS } from "./resource-states.ts";
import { forUser } from "./user-request.ts";

/** Concurrent callers; others queue, which bounds memory. */
const READERS_AT_ONCE = 8;

/** Workloads port on the Kubernetes API, with the rights of the environment's namespace. */
export function kubernetesWorkloads(reader: NamespaceReader): Workloads {
  const { services } = reader;
  const limit = pLimit(READERS_AT_ONCE);
  return {
    list: (environment, selectors) =>
      limit(() =>
        forUser(async () => {
          if (!hasNamespace(reader, environment)) return [];
          // Rights come and go with a namespace.
          return findingsIn(reader, namespaceName(environment.name), WORKLOAD_KINDS)
            .then(({ findings, ...state }) => workloadsOf(state, findings, { selectors, services }))
            .catch(insteadOf(isForbidden, []));
        }),
      ),
  };
}

interface Listed extends Omit<Workload, "component" | "problem" | "restarts"> {
  /** Template of the workload, or one of its pods. */
  readonly labelled: Labelled;
}

/** Workloads of a namespace, by component, kind and name. */
export function workloadsOf(
  { pods, resources }: NamespaceState,
  findings: NamespaceFindings,
  rules: ComponentRules,
): readonly Workload[] {
  const makers = makersOf(resources);
  const current = Map.groupBy(currentPods(pods, makers), (pod) => titleOf(makers(pod)));
  const objects = resources.filter(isOwn).flatMap(listedObject);
  const known = new Set(objects.map(titleOf));
  const others = [...current].filter(([title]) => !known.has(title)).map(([, own]) => listedPods(own, makers));
  const problems = problemsOf(findings);
  const all: readonly Listed[] = [...objects, ...others];
  const chosen = chosenPods<Labelled>([...pods, ...objects.map(({ labelled }) => labelled)], rules);
  return all
    .map(({ labelled, ...listed }) => {
      const component = chosen.componentOf(labelled)?.name;
      const problem = problems.get(titleOf(listed));
      return {
        ...listed,
        restarts: restartsOf(current.get(titleOf(listed)) ?? []),
        ...present({ component, problem }),
      };
    })
    .sort(byPlace);
}

/** A CronJob's Job is a run. */
const isOwn = ({ metadata }: Resource) => !metadata.ownerReferences?.some(({ kind }) => kind === "CronJob");

function listedObject(object: Resource): readonly Listed[] {
  const pods = RESOURCE_ROWS.get(object.kind)?.podsOf?.(object);
  const labelled = templateOf(object);
  if (pods === undefined || labelled === undefined) return [];
  const { kind, metadata } = object;
  return [{ kind, name: metadata.name, ...pods, images: imagesOf(labelled.spec), labelled }];
}

/** The owner of these pods has no row, or is gone. */
function listedPods(pods: readonly Pod[], makers: ReturnType<typeof makersOf>): Listed {
  const [labelled] = pods as readonly [Pod, ...Pod[]];
  return { ...makers(labelled), ready: pods.filter(isReady).length, images: imagesOf(labelled.spec), labelled };
}

function imagesOf(spec: PodSpec | undefined): readonly string[] {
  return [...new Set(containersOf(spec).flatMap(({ image }) => image ?? []))];
}

function restartsOf(pods: readonly Pod[]): number {
  return pods.flatMap(containerStatuses).reduce((sum, { restartCount }) => sum + restartCount, 0);
}

/** Problems by title. The cluster's messages are left out: they may hold secrets. */
function problemsOf({ problems, quiet }: NamespaceFindings): ReadonlyMap<string, string> {
  return new Map([
    ...quiet.map((one) => [titleOf(one), one.what] as const),
    ...problems.map(({ object, what, remedy }) => [titleOf(object), `${what}: ${remedy}`] as const),
  ]);
}

/** Components first, in their order. */
const PLACES: readonly string[] = [...COMPONENTS, ""];

function byPlace(one: Workload, other: Workload): number {
  const place = ({ component = "" }: Workload) => PLACES.indexOf(PLACES.includes(component) ? component : "");
  return place(one) - place(other) || titleOf(one).localeCompare(titleOf(other));
}
