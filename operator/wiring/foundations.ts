import type { Settings } from "../../config/settings.ts";
import { FIELD_MANAGER } from "../../crds/group.ts";
import { createCacheSet } from "../kit/cache/cache-set.ts";
import { createKubeClient } from "../kit/client/create-kube-client.ts";
import type { KubeConfigSource } from "../kit/client/credentials/credentials.ts";
import type { KubeClient } from "../kit/client/kube-client.ts";
import { ownDeletions } from "../kit/client/own-deletions.ts";
import type { RequestSeam } from "../kit/client/request.ts";
import type { WriteGuard } from "../kit/client/write-guard.ts";
import { createTerm } from "../kit/leader/term.ts";
import type { Log } from "../kit/log.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { Metrics } from "../ports/observability/metrics.ts";
import { watchKinds } from "./caches.ts";
import { deployerOf } from "./deployers.ts";
import { createMessaging } from "./messaging.ts";
import { createSecretManagers } from "./secret-managers.ts";

/** What the process is started with. */
export interface FoundationOptions {
  readonly settings: Settings;
  readonly kubeConfig: KubeConfigSource;
  readonly log: Log;
  readonly clock: Clock;
  /** Stands around every call to the Kubernetes API; for counting and for injecting faults. */
  readonly onRequest?: RequestSeam;
  /** Where the process counts what it does. */
  readonly metrics?: Metrics | undefined;
}

/** What the controllers and the facade's ports both stand on. */
export type Foundations = ReturnType<typeof createFoundations>;

/** Clients, caches that wait for their start, and the technologies that the settings choose. */
export function createFoundations(options: FoundationOptions) {
  const { settings, log, clock, metrics } = options;
  const counted: Metrics["counted"] = metrics === undefined ? (_service, port) => port : metrics.counted;
  const term = createTerm();
  const client = connect(options);
  const leaderClient = connect(options, term);
  const watches = createCacheSet({ client, log, clock });
  const deployer = deployerOf(settings);
  const secretManagers = createSecretManagers(settings, { client, leaderClient, isLeading: term.holds, clock });
  const { chat, mail } = createMessaging(settings);
  return {
    settings,
    log,
    clock,
    /** For what users wait for. */
    client,
    /** For what controllers call: it ends with the term, and what users wait for never queues behind it. */
    leaderClient,
    term,
    watches,
    caches: watchKinds(watches, settings.namespace, deployer.kinds),
    deletions: ownDeletions(),
    deployer,
    /** Counts the calls of a service, where they are counted at all. */
    counted,
    secretManagers: {
      ...secretManagers,
      forController: counted("secret-manager", secretManagers.forController),
      forApi: counted("secret-manager", secretManagers.forApi),
    },
    messaging: { chat: counted("chat", chat), mail: mail && counted("mail", mail) },
  };
}

function connect({ kubeConfig, clock, ...options }: FoundationOptions, guard?: WriteGuard): KubeClient {
  const onRequest = around(options.metrics?.onKubeRequest, options.onRequest);
  return createKubeClient({ kubeConfig, clock, userAgent: FIELD_MANAGER, onRequest, guard });
}

/** Both seams: the outer one sees what the inner one makes of a request. */
function around(outer: RequestSeam | undefined, inner: RequestSeam | undefined): RequestSeam | undefined {
  if (outer === undefined || inner === undefined) return outer ?? inner;
  return (request, next) => outer(request, () => inner(request, next));
}
