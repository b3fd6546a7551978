import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ClusterUnavailable } from "../../../crds/errors.ts";
import { kubernetesWorkloads } from "../../../operator/adapters/kubernetes/workloads.ts";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import {
  type Answer,
  type FakeApiServer,
  json,
  startFakeApiServer,
  status,
} from "../../support/doubles/fake-api-server.ts";
import { TestClock } from "../../support/doubles/test-clock.ts";
import { shop } from "../suites/pod-logs.suite.ts";
import { ours, stranger } from "./pods-with-logs.ts";

let server: FakeApiServer;
let client: KubeClient;
beforeEach(async () => {
  server = await startFakeApiServer();
  client = createKubeClient({ kubeConfig: server.kubeConfig });
});
afterEach(async () => {
  await client.close();
  await server.close();
});

const items = (...objects: object[]) => json({ metadata: { resourceVersion: "1" }, items: objects });
const on = (plural: string, answer: Answer) => server.on(({ path }) => path.endsWith(`/env-shop/${plural}`), answer);
const workloads = (clock = new TestClock()) =>
  kubernetesWorkloads({ client, cluster: ours, clock, services: ["database"] });
const list = (environment = shop) => workloads().list(environment, { backend: {} });

const born = "2026-01-01T00:00:00Z";
const redis = {
  metadata: { name: "redis", namespace: "env-shop", uid: "redis", creationTimestamp: born, generation: 1 },
  spec: { replicas: 1, template: { spec: { containers: [{ name: "main", image: "redis:7" }] } } },
  status: { observedGeneration: 1, replicas: 0 },
};

function furnish(answers: Readonly<Record<string, Answer>> = {}): void {
  const kinds = ["pods", "deployments", "statefulsets", "daemonsets", "jobs", "cronjobs", "events"];
  for (const plural of kinds) on(plural, answers[plural] ?? items());
}

describe("the workloads of an environment", () => {
  test("are read with their pods, once for each kind, in its namespace alone", async () => {
    furnish({ statefulsets: items({ ...redis, status: { ...redis.status, replicas: 1, readyReplicas: 1 } }) });
    expect(await list()).toEqual([
      {
        kind: "StatefulSet",
        name: "redis",
        component: "backend",
        desired: 1,
        ready: 1,
        restarts: 0,
        images: ["redis:7"],
        problem: undefined,
      },
    ]);
    expect(server.seen.map(({ path }) => path.split("/").at(-1)).sort()).toEqual([
      "cronjobs",
      "daemonsets",
      "deployments",
      "jobs",
      "pods",
      "statefulsets",
    ]);
    expect(server.seen.every(({ path }) => path.includes("/namespaces/env-shop/"))).toBe(true);
  });

  test("say why their pods are refused, which only events do", async () => {
    const refusal = {
      metadata: { name: "w", uid: "w", creationTimestamp: born },
      involvedObject: { uid: "redis" },
      reason: "FailedCreate",
      message: "violates PodSecurity",
      lastTimestamp: born,
      firstTimestamp: born,
    };
    furnish({ statefulsets: items(redis), events: items(refusal) });
    expect(await list()).toMatchObject([
      { problem: "the cluster refuses to create its pods: correct the pod's template in the chart" },
    ]);
  });

  test("are none of a kind that the cluster does not serve", async () => {
    furnish({ daemonsets: status(404, "NotFound"), statefulsets: items(redis) });
    expect(await list()).toHaveLength(1);
  });

  test("are none in a namespace of a former environment of the name, and none before it is ours", async () => {
    furnish({ statefulsets: items(redis) });
    expect(await list(stranger)).toEqual([]);
    expect(server.seen).toEqual([]);
    server.on(() => true, status(403, "Forbidden"));
  });

  test("are none while the platform has no rights there", async () => {
    furnish({ pods: status(403, "Forbidden") });
    expect(await list()).toEqual([]);
  });

  test("can't be had while the API server can't be reached", async () => {
    furnish({ pods: status(503, "ServiceUnavailable") });
    await expect(list()).rejects.toThrow(ClusterUnavailable);
  }, 30_000);
});
