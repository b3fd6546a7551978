import type { EnvironmentSpec, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import { isUnavailable } from "../../../operator/kit/client/errors.ts";
import { namespaceKind, resourceQuotaKind } from "../../../operator/kit/client/kinds.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { COMMIT, createWorld, type World } from "../../support/worlds/environment-world.ts";
import { type MeasuredOperator, startMeasuredOperator } from "./measured-operator.ts";
import { type ObservedStates, observeStates } from "./observed-states.ts";

/** The workers of the measurement; the settings' default is lower. */
const WORKERS = 32;
/** The most pending requests during preparations. */
const AT_ONCE = 32;

/** A control plane with a stand-in for the deployer, and the operator in a separate process. */
export interface BenchWorld {
  readonly world: World;
  /** Uses the operator's identity, so that the API server treats the plain client equally. */
  readonly asPlatform: KubeClient;
  readonly ready: ObservedStates;
  startOperator(options?: StartOptions): MeasuredOperator;
  create(name: string, spec?: Partial<EnvironmentSpec>): Promise<EphemeralEnvironment>;
  /** Waits until the API server's own controllers have no work for any namespace. */
  untilQuiet(): Promise<void>;
  stop(): Promise<void>;
}

export interface StartOptions {
  /** Milliseconds that its clock is ahead (default 0). */
  readonly aheadMs?: number;
  /** Interval of probes of ready environments (default 60). */
  readonly probeSeconds?: number;
  /** True: it reconciles only after the request to lead. */
  readonly isStandby?: boolean;
}

export async function createBenchWorld(): Promise<BenchWorld> {
  const world = await createWorld({ etcdGateway: true });
  await world.register("test-frontend", { type: "frontend" });
  const asPlatform = createKubeClient({ kubeConfig: world.identity.kubeConfig });
  const isReached = ({ status }: EphemeralEnvironment) => status?.phase === "ready";
  const ready = await observeStates({ client: world.admin, type: environmentType, isReached });
  const running = new Set<MeasuredOperator>();
  return {
    world,
    asPlatform,
    ready,
    startOperator({ aheadMs = 0, probeSeconds = 60, isStandby = false } = {}) {
      const settings = { ...testSettings, reconcile: { workers: WORKERS, probeSeconds } };
      const { url, caFile } = world.plane;
      const { token } = world.identity;
      const operator = startMeasuredOperator({ url, caFile, token, settings, aheadMs, isStandby });
      running.add(operator);
      return operator;
    },
    create: (name, spec = {}) => world.create(name, { ...usualSpec, ...spec }),
    untilQuiet: () =>
      until(() => isQuiet(world.admin).catch(falseWhileBehind), {
        what: "quiet",
        deadlineMs: 6e5,
        everyMs: 500,
      }).then(),
    async stop() {
      await Promise.all([...running].map((operator) => operator.stop()));
      await ready.stop();
      await asPlatform.close();
      await world.stop();
    },
  };
}

/** Both components, as usual; the commits are given, so that no branch is read. */
const usualSpec: EnvironmentSpec = {
  ttlHours: 168,
  backend: { repository: "test-backend", branch: "main", commit: COMMIT },
  frontend: { repository: "test-frontend", branch: "main", commit: COMMIT },
};

/** Answers false for an API server that is behind: minutes after large writes into etcd it may answer no list. */
function falseWhileBehind(error: unknown): boolean {
  if (!isUnavailable(error)) throw error;
  return false;
}

/** Every quota is computed, and no namespace is in deletion. */
async function isQuiet(admin: KubeClient): Promise<boolean> {
  const quotas = await admin.list(resourceQuotaKind);
  if (quotas.items.some(({ status }) => (status as { used?: object } | undefined)?.used === undefined)) return false;
  const namespaces = await admin.list(namespaceKind, { metadataOnly: true });
  return namespaces.items.every(({ metadata }) => metadata.deletionTimestamp === undefined);
}

/** Does the work with limited concurrency; answers in the order of the items. */
export async function inParallel<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
  atOnce = AT_ONCE,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const index = next;
      next += 1;
      results[index] = await work(items[index] as T);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}
