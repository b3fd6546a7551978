import { afterEach, beforeEach } from "@jest/globals";
import { kubernetesPodLogs } from "../../../operator/adapters/pod-logs/pod-logs.ts";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import { systemClock } from "../../../operator/kit/time/clock.ts";
import type { PodLogs } from "../../../operator/ports/api/pods.ts";
import type { Cluster } from "../../../operator/ports/cluster.ts";
import { type FakeApiServer, reset, startFakeApiServer } from "../../support/doubles/fake-api-server.ts";
import { fastClock } from "../../support/doubles/fast-clock.ts";
import { type FakeContainer, FakeKubelet, type FakePod, lineAt } from "../../support/plane/fake-kubelet.ts";
import { backend, shop, textsOf } from "../suites/pod-logs.suite.ts";

/** Speed of following; reading has its real deadlines. */
const HURRY = 4;

/** The stranger, to whom no namespace belongs. */
export const stranger = { name: "shop", uid: "another" };
/** A cluster in which every namespace belongs to the requesting environment, except for the stranger. */
export const ours: Pick<Cluster, "observe"> = {
  observe: ({ uid }, { kind }, { name }) =>
    uid === stranger.uid
      ? undefined
      : { apiVersion: "v1", kind, metadata: { name, uid: "namespace", resourceVersion: "1" } },
};

/** A running container that has written these lines now. */
export function running(name: string, ...texts: string[]): FakeContainer {
  return { name, isRunning: true, runs: [{ lines: texts.map((text) => lineAt({ at: new Date(), text })) }] };
}

/** The adapter on this client, with accelerated following. */
export function logsThrough(client: KubeClient): PodLogs {
  const { tail } = kubernetesPodLogs({ client, cluster: ours, services: ["database"], clock: systemClock });
  const { follow } = kubernetesPodLogs({ client, cluster: ours, services: ["database"], clock: fastClock(HURRY) });
  return { tail, follow };
}

/** Pods with logs whose start and end belong to the caller; the API server resets connections while it is unreachable. */
export async function startWorld(isReachable = () => true) {
  const server = await startFakeApiServer();
  server.on(() => !isReachable(), reset);
  const kubelet = new FakeKubelet(server);
  const client = createKubeClient({ kubeConfig: server.kubeConfig });
  const stop = async () => {
    await client.close();
    await server.close();
  };
  return { server, kubelet, client, podLogs: logsThrough(client), stop };
}

/** Pods with logs on a fake API server, and the adapter that reads them; new for each test. */
export function podsWithLogs() {
  let count = 0;
  function pod(given: Partial<FakePod>, ...containers: FakeContainer[]): FakePod {
    count += 1;
    return { namespace: "env-shop", name: `backend-${count}`, component: "backend", containers, ...given };
  }

  let server: FakeApiServer;
  let kubelet: FakeKubelet;
  let client: KubeClient;
  let podLogs: PodLogs;
  let stop: () => Promise<void>;

  beforeEach(async () => {
    ({ server, kubelet, client, podLogs, stop } = await startWorld());
  });
  afterEach(() => stop());

  const tail = async (lines = 100) => textsOf(await podLogs.tail(shop, backend, { lines }));

  return {
    get server() {
      return server;
    },
    get kubelet() {
      return kubelet;
    },
    get client() {
      return client;
    },
    get podLogs() {
      return podLogs;
    },
    pod,
    tail,
  };
}
