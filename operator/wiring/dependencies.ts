import type { Settings } from "../../config/settings.ts";
import { FIELD_MANAGER } from "../../crds/group.ts";
import {
  watchedApiTokens,
  watchedConfigSets,
  watchedEnvironments,
  watchedIsolation,
  watchedNotifications,
  watchedRecords,
  watchedRepositories,
  watchedRevisions,
  watchedRollups,
  watchedWebhookDeliveries,
} from "../adapters/kubernetes/kinds.ts";
import { kubeCallSpans, serviceCallSpans } from "../adapters/opentelemetry/call-spans.ts";
import { fieldManagers } from "../audit/out-of-band-changes.ts";
import { ObservedRequests } from "../controllers/activity/observed-requests.ts";
import { OwnProbes } from "../controllers/activity/own-probes.ts";
import { type CacheSet, createCacheSet } from "../kit/cache/cache-set.ts";
import type { WatchedKind } from "../kit/cache/watched-kind.ts";
import { createKubeClient } from "../kit/client/create-kube-client.ts";
import type { KubeConfigSource } from "../kit/client/credentials.ts";
import type { WriteGuard } from "../kit/client/exchange.ts";
import type { WireObject } from "../kit/client/kinds.ts";
import type { KubeClient } from "../kit/client/kube-client.ts";
import { ownDeletions } from "../kit/client/own-deletions.ts";
import type { KubeRequest, KubeResponse, RequestInterceptor } from "../kit/client/request.ts";
import { createTerm } from "../kit/leader/leader-election.ts";
import type { Log } from "../kit/log.ts";
import type { Clock } from "../kit/time/clock.ts";
import { noTracing, type Tracing } from "../kit/tracing.ts";
import type { AuditTrail } from "../ports/audit-trail.ts";
import type { Caches } from "../ports/caches.ts";
import type { Metrics, Service, ServiceCallInterceptor } from "../ports/metrics.ts";
import type { UrlProber } from "../ports/url-prober.ts";
import {
  costMonitorOf,
  deployerOf,
  ingressTrafficOf,
  messagingOf,
  secretManagersOf,
  urlProberOf,
} from "./technologies.ts";

/** Start options of the process. */
export interface DependencyOptions {
  readonly settings: Settings;
  readonly kubeConfig: KubeConfigSource;
  readonly log: Log;
  readonly clock: Clock;
  /** Intercepts every call to the Kubernetes API: counts, or injects faults. */
  readonly onRequest?: RequestInterceptor;
  readonly metrics?: Metrics | undefined;
  readonly tracing?: Tracing;
  /** Records changes, also those that bypass the REST interface. */
  readonly audit?: AuditTrail;
  /** Replaces the real prober. */
  readonly prober?: UrlProber;
}

/** Audit trail of processes without an audit log, as in tests and benchmarks. */
const UNRECORDED: AuditTrail = { add: async () => undefined, isKept: async () => true };

/** Shared dependencies of the controllers and the API's ports. */
export type Dependencies = ReturnType<typeof createDependencies>;

/** Creates clients, unstarted caches, and the settings' technologies. */
export function createDependencies(options: DependencyOptions) {
  const { settings, log, clock, metrics, tracing = noTracing } = options;
  const observed = observing(around(metrics?.onServiceCall, spansOf(tracing, serviceCallSpans)));
  const term = createTerm();
  const client = connect(options);
  const leaderClient = connect(options, term);
  const watches = createCacheSet({ client, log, clock });
  const deployer = deployerOf(settings);
  const secretManagers = secretManagersOf(settings, { client, leaderClient, isLeading: term.holds, clock });
  const { chat, mail } = messagingOf(settings);
  const costMonitor = costMonitorOf(settings);
  const ownProbes = new OwnProbes();
  const ingressTraffic = ingressTrafficOf(settings);
  return {
    settings,
    log,
    clock,
    /** Client for users' calls. */
    client,
    /** Client for controllers' calls: ends with the term, and never delays users' calls. */
    leaderClient,
    term,
    watches,
    caches: watchKinds(watches, settings.namespace, deployer.kinds),
    deletions: ownDeletions(),
    deployer,
    tracing,
    audit: options.audit ?? UNRECORDED,
    /** A prober with its own connections, so that controllers and users don't wait for each other. */
    createProber: () => {
      const prober = options.prober ?? urlProberOf(settings, clock);
      return ingressTraffic === undefined ? prober : ownProbes.counted(prober);
    },
    /** Counts and traces the calls of a service, if enabled. */
    observed,
    secretManagers: {
      ...secretManagers,
      forController: observed("secret-manager", secretManagers.forController),
      forApi: observed("secret-manager", secretManagers.forApi),
    },
    costMonitor: costMonitor && observed("opencost", costMonitor),
    ownProbes,
    observedRequests: new ObservedRequests({ clock, hasSource: ingressTraffic !== undefined }),
    ingressTraffic: ingressTraffic && observed("ingress-metrics", ingressTraffic),
    messaging: { chat: observed("chat", chat), mail: mail && observed("mail", mail) },
  };
}

function connect({ kubeConfig, clock, ...options }: DependencyOptions, guard?: WriteGuard): KubeClient {
  const { metrics, tracing = noTracing } = options;
  const onRequest = around(
    spansOf(tracing, kubeCallSpans),
    around<KubeRequest, KubeResponse>(metrics?.onKubeRequest, options.onRequest),
  );
  return createKubeClient({ kubeConfig, clock, userAgent: FIELD_MANAGER, onRequest, guard });
}

/** Untraced calls have no interceptor. */
function spansOf<S>(tracing: Tracing, interceptor: (tracing: Tracing) => S): S | undefined {
  return tracing === noTracing ? undefined : interceptor(tracing);
}

/**
 * Adds the watched kinds to the set: the platform's own, and environments' children.
 *
 * @param namespace of the platform's namespaced kinds
 * @param deployerKinds the deployer's kinds for environments
 */
export function watchKinds(
  set: CacheSet,
  namespace: string,
  deployerKinds: readonly WatchedKind<WireObject>[],
): Caches {
  const writers = fieldManagers();
  const children = [...watchedIsolation, ...deployerKinds];
  return {
    environments: set.watch(watchedEnvironments(writers.noting)),
    repositories: set.watch(watchedRepositories(namespace, writers.noting)),
    configSets: set.watch(watchedConfigSets(namespace, writers.noting)),
    apiTokens: set.watch(watchedApiTokens(namespace)),
    webhookDeliveries: set.watch(watchedWebhookDeliveries(namespace)),
    records: set.watch(watchedRecords(namespace)),
    notifications: set.watch(watchedNotifications(namespace)),
    rollups: set.watch(watchedRollups(namespace)),
    revisions: set.watch(watchedRevisions(namespace)),
    children: new Map(children.map((kind) => [kind.type.plural, set.watch(kind)])),
    writersOf: writers.of,
  };
}

type Interceptor<C, R> = (call: C, next: () => Promise<R>) => Promise<R>;

/** Both interceptors: the outer one sees the inner one's result. */
export function around<C, R>(
  outer: Interceptor<C, R> | undefined,
  inner: Interceptor<C, R> | undefined,
): Interceptor<C, R> | undefined {
  if (outer === undefined || inner === undefined) return outer ?? inner;
  return (call, next) => outer(call, () => inner(call, next));
}

/** A port whose methods all return promises. */
type Remote<P> = { readonly [M in keyof P]: P[M] extends (...given: never[]) => Promise<unknown> ? P[M] : never };

/** Creates the wrapper for ports. */
export function observing(interceptor: ServiceCallInterceptor | undefined) {
  return <P extends Remote<P> & object>(service: Service, port: P): P => {
    if (interceptor === undefined) return port;
    return new Proxy(port, {
      get(target, operation) {
        const found: unknown = Reflect.get(target, operation);
        if (typeof found !== "function" || typeof operation === "symbol") return found;
        return (...given: unknown[]) =>
          interceptor({ service, operation }, async () => Reflect.apply(found, target, given));
      },
    });
  };
}
