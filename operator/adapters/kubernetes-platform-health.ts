import NodeCache from "node-cache";
import type { Caches } from "../caches.ts";
import { applicationKind } from "../kinds.ts";
import type { Clock } from "../kit/clock.ts";
import type { KubeClient } from "../kit/kube-client.ts";
import type { ResourceType } from "../kit/kube-object.ts";
import type { PlatformHealth, PlatformHealthCheck } from "../ports/platform-health.ts";

const ANSWER_SECONDS = 2;
const DEADLINE_MS = 2_000;

interface Context {
  readonly client: KubeClient;
  readonly caches: Caches;
  readonly deployerNamespace: string;
  readonly clock: Clock;
}

/** The PlatformHealthCheck port: the Kubernetes API asked directly, the watch caches, and Argo CD seen through its objects. */
export function kubernetesPlatformHealth(context: Context): PlatformHealthCheck {
  const answers = new NodeCache({ stdTTL: ANSWER_SECONDS, useClones: false, checkperiod: 0 });
  return {
    check() {
      const known = answers.get<Promise<PlatformHealth>>("health");
      if (known !== undefined) return known;
      const asked = ask(context);
      answers.set("health", asked);
      return asked;
    },
  };
}

async function ask({ client, caches, deployerNamespace, clock }: Context): Promise<PlatformHealth> {
  const type = applicationKind as ResourceType;
  const [datastore, deployer] = await Promise.all([
    timed(clock, (signal) => client.serverTime({ signal })),
    timed(clock, (signal) => client.find(type, { name: "platform-health", namespace: deployerNamespace }, { signal })),
  ]);
  const lastCheck = clock.now();
  return {
    datastore: { healthy: datastore.answered, responseTimeMs: datastore.tookMs, lastCheck },
    cache: { healthy: caches.synced, responseTimeMs: 0, memoryBytes: process.memoryUsage().heapUsed, lastCheck },
    deployer: {
      healthy: deployer.answered && caches.synced,
      applicationsSynced: syncedApplications(caches),
      lastCheck,
    },
  };
}

/** Health is a fact, not a failure: whatever goes wrong here means "not healthy". */
async function timed(
  clock: Clock,
  call: (signal: AbortSignal) => Promise<unknown>,
): Promise<{ answered: boolean; tookMs: number }> {
  const begun = clock.monotonicMs();
  const answered = await call(AbortSignal.timeout(DEADLINE_MS)).then(
    () => true,
    () => false,
  );
  return { answered, tookMs: Math.round(clock.monotonicMs() - begun) };
}

function syncedApplications({ children }: Caches): number {
  const applications = children.get(applicationKind.plural)?.list() ?? [];
  return applications.filter((application) => {
    const status = application.status as { sync?: { status?: string } } | undefined;
    return status?.sync?.status === "Synced";
  }).length;
}
