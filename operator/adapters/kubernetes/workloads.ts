import pLimit from "p-limit";
import { COMPONENTS, namespaceName } from "../../../crds/names.ts";
import { titleOf } from "../../../crds/object-title.ts";
import { insteadOf, isForbidden } from "../../kit/client/errors.ts";
import { namespaceKind } from "../../kit/client/kinds.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { Workload, Workloads } from "../../ports/api/pods.ts";
import type { Cluster } from "../../ports/cluster.ts";
import { type ComponentRules, chosenPods, type Labelled } from "./component-pods.ts";
import { resourcesIn, warningsIn } from "./namespace-state.ts";
import { type Pod, type PodSpec, podType } from "./pod-objects.ts";
import { currentPods, findingsOf, makersOf, type NamespaceState } from "./pod-problems.ts";
import { RESOURCE_ROWS, type Resource, templateOf, WORKLOAD_KINDS } from "./resource-states.ts";
import { forUser } from "./user-request.ts";

interface Context {
  readonly client: KubeClient;
  /** Answers the owner of a namespace. */
  readonly cluster: Pick<Cluster, "observe">;
  readonly clock: Clock;
  readonly services: readonly string[];
}

/** Concurrent callers; others queue, which bounds memory. */
const READERS_AT_ONCE = 8;

/** Workloads port on the Kubernetes API, with the rights of the environment's namespace. */
export function kubernetesWorkloads(context: Context): Workloads {
  const { client, cluster, clock, services } = context;
  const limit = pLimit(READERS_AT_ONCE);
  return {
    list: (environment, selectors) =>
      limit(() =>
        forUser(async () => {
          const namespace = namespaceName(environment.name);
          // A namespace left by another environment keeps its pods, and our rights, until it is swept.
          if (cluster.observe(environment, namespaceKind, { name: namespace }) === undefined) return [];
          // Rights come and go with a namespace.
          return read(namespace)
            .then((state) => workloadsOf(state, { selectors, services }, clock.now()))
            .catch(insteadOf(isForbidden, []));
        }),
      ),
  };

  async function read(namespace: string): Promise<NamespaceState> {
    const [{ items: pods }, resources] = await Promise.all([
      client.list(podType, { namespace }),
      resourcesIn(client, namespace, WORKLOAD_KINDS),
    ]);
    const { asksWarnings } = findingsOf({ pods, resources }, clock.now());
    return { pods, resources, ...(asksWarnings ? { warnings: await warningsIn(client, namespace) } : {}) };
  }
}

interface Listed extends Omit<Workload, "component" | "problem" | "restarts"> {
  /** Template of the workload, or one of its pods. */
  readonly labelled: Labelled;
}

/** Workloads of a namespace, by component, kind and name. */
export function workloadsOf(namespace: NamespaceState, rules: ComponentRules, now: Date): readonly Workload[] {
  const { pods, resources } = namespace;
  const makers = makersOf(resources);
  const current = Map.groupBy(currentPods(pods, makers), (pod) => titleOf(makers(pod)));
  const objects = resources.filter(isOwn).flatMap(listedObject);
  const known = new Set(objects.map(titleOf));
  const others = [...current].filter(([title]) => !known.has(title)).map(([, own]) => listedPods(own, makers));
  const problems = problemsIn(namespace, now);
  const all: readonly Listed[] = [...objects, ...others];
  const chosen = chosenPods<Labelled>([...pods, ...objects.map(({ labelled }) => labelled)], rules);
  return all
    .map(({ labelled, ...listed }) => {
      const component = chosen.componentOf(labelled)?.name;
      const problem = problems.get(titleOf(listed));
      return {
        ...listed,
        restarts: restartsOf(current.get(titleOf(listed)) ?? []),
        ...(component === undefined ? {} : { component }),
        ...(problem === undefined ? {} : { problem }),
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
  const ready = pods.filter(({ status }) =>
    status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"),
  );
  return { ...makers(labelled), ready: ready.length, images: imagesOf(labelled.spec), labelled };
}

function imagesOf(spec: PodSpec | undefined): readonly string[] {
  const images = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].flatMap(({ image }) => image ?? []);
  return [...new Set(images)];
}

function restartsOf(pods: readonly Pod[]): number {
  return pods
    .flatMap(({ status }) => [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])])
    .reduce((sum, { restartCount }) => sum + restartCount, 0);
}

/** Problems by title. The cluster's messages are left out: they may hold secrets. */
function problemsIn(namespace: NamespaceState, now: Date): ReadonlyMap<string, string> {
  const { problems, quiet } = findingsOf(namespace, now);
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
