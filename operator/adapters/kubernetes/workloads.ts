import pLimit from "p-limit";
import { namespaceName } from "../../../crds/names.ts";
import { insteadOf, isForbidden } from "../../kit/client/errors.ts";
import { namespaceKind } from "../../kit/client/kinds.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { Cluster } from "../../ports/cluster.ts";
import type { Workloads } from "../../ports/facade/workloads.ts";
import { resourcesIn, warningsIn } from "./namespace-state.ts";
import { podType } from "./pod-objects.ts";
import { findingsOf, type NamespaceState } from "./pod-problems.ts";
import { WORKLOAD_KINDS } from "./resource-states.ts";
import { forUser } from "./user-request.ts";
import { workloadsOf } from "./workload-list.ts";

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
