import { MINUTE_MS } from "../../../crds/durations.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { isAsleep } from "../../../crds/environment/sleep.ts";
import { namespaceName } from "../../../crds/names.ts";
import type { Reconcile } from "../../kit/controller/controller.ts";
import type { IngressTraffic } from "../../ports/ingress-traffic.ts";
import type { ObservedRequests } from "./observed-requests.ts";
import type { OwnProbes } from "./own-probes.ts";

/** The ports of the observation of activity. */
export interface ActivityDependencies {
  readonly environments: { readonly list: () => readonly EphemeralEnvironment[] };
  /** `undefined` where the settings name no source. */
  readonly ingressTraffic: IngressTraffic | undefined;
  readonly observedRequests: ObservedRequests;
  readonly ownProbes: OwnProbes;
}

/** Reads each minute how many requests environments got that may fall asleep when idle, while they are awake. */
export function createActivityReconciler(dependencies: ActivityDependencies): Reconcile {
  const { environments, ingressTraffic, observedRequests, ownProbes } = dependencies;
  if (ingressTraffic === undefined) return async () => {};
  return async (_key, { signal }) => {
    const mayIdle = environments.list().filter(({ status }) => {
      return status?.sleep?.afterIdleMinutes !== undefined && !isAsleep({ status });
    });
    // The ingress may have no figures where every environment is asleep.
    if (mayIdle.length === 0) {
      ownProbes.take();
      observedRequests.record([]);
      return { requeueAfterMs: MINUTE_MS };
    }
    const namespaces = new Set(mayIdle.map(({ metadata }) => namespaceName(metadata.name)));
    const requests = await ingressTraffic.requestsSinceLast(namespaces, signal);
    const probes = ownProbes.take();
    observedRequests.record(
      mayIdle.map(({ metadata, status }) => ({
        uid: metadata.uid,
        requests: requests.get(namespaceName(metadata.name)) ?? 0,
        probes: hostsOf(status?.urls).reduce((sum, host) => sum + Math.max(0, probes.get(host) ?? 0), 0),
        minimum: status?.sleep?.minimumRequests ?? 1,
      })),
    );
    return { requeueAfterMs: MINUTE_MS };
  };
}

type Urls = NonNullable<EphemeralEnvironment["status"]>["urls"];

function hostsOf({ hosts = {}, ...components }: NonNullable<Urls> = {}): readonly string[] {
  return Object.values({ ...hosts, ...components }).map((url) => new URL(url).host);
}
