import { describe, expect, test } from "@jest/globals";
import { kubernetesPodLogs } from "../../../operator/adapters/pod-logs/pod-logs.ts";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import { json, silence, startFakeApiServer, status } from "../../support/doubles/fake-api-server.ts";
import { fastClock } from "../../support/doubles/fast-clock.ts";
import { until } from "../../support/fixtures/until.ts";
import type { FakeContainer } from "../../support/plane/fake-kubelet.ts";
import { backend, following, podLogsSuite, shop, textsOf } from "../suites/pod-logs.suite.ts";
import { logsThrough, ours, podsWithLogs, running, startWorld, stranger } from "./pods-with-logs.ts";

const world = podsWithLogs();
const { pod, tail } = world;

podLogsSuite("the pods' logs from the kubelet", async () => {
  let isReachable = true;
  const { kubelet, podLogs, stop } = await startWorld(() => isReachable);
  const containers = new Map<string, FakeContainer>();
  return {
    podLogs,
    write(environment, component, line) {
      const key = `${environment}/${component}`;
      const container = containers.get(key) ?? running("main");
      if (!containers.has(key)) kubelet.pods.push(pod({ namespace: `env-${environment}`, component }, container));
      containers.set(key, container);
      kubelet.write(container, line);
    },
    setReachable: (reachable) => {
      isReachable = reachable;
    },
    stop,
  };
});

const logRequests = () => world.server.seen.filter(({ path }) => path.endsWith("/log"));

describe("what is read", () => {
  test("is every container of every pod, also those that prepare it, and the run before, by time", async () => {
    const at = (second: number) => `2026-01-01T00:00:0${second}.000000000Z`;
    const run = (...lines: [second: number, text: string][]) => ({
      lines: lines.map(([second, text]) => ({ at: at(second), text })),
    });
    world.kubelet.pods.push(
      pod(
        {},
        { name: "migrate", isInit: true, isRunning: false, runs: [run([0, "migrated"])] },
        { name: "main", isRunning: true, runs: [run([1, "never kept"]), run([2, "crashed"]), run([4, "restarted"])] },
        { name: "sidecar", isRunning: true, runs: [run([3, "beside"])] },
      ),
      pod({}, { name: "main", isRunning: false, runs: [run([5, "of another pod, which waits"])] }),
      pod({}, { name: "main", isRunning: false, runs: [] }),
    );
    expect(await tail()).toEqual(["migrated", "crashed", "beside", "restarted", "of another pod, which waits"]);
  });

  test("is in order wherever its node is, to the nanosecond", async () => {
    const lines = [
      { at: "2026-01-01T01:00:00.000000002+01:00", text: "second" },
      { at: "2025-12-31T19:00:00.000000003-05:00", text: "third" },
      { at: "2026-01-01T00:00:00.000000001Z", text: "first" },
      { at: "2026-01-01T00:00:01Z", text: "" },
    ];
    world.kubelet.pods.push(
      ...lines.map((line) => pod({}, { name: "main", isRunning: true, runs: [{ lines: [line] }] })),
    );
    expect(await world.podLogs.tail(shop, backend, { lines: 9 })).toEqual([
      { at: "2026-01-01T00:00:00.000000001Z", text: "first" },
      { at: "2026-01-01T00:00:00.000000002Z", text: "second" },
      { at: "2026-01-01T00:00:00.000000003Z", text: "third" },
      { at: "2026-01-01T00:00:01.000000000Z", text: "" },
    ]);
  });

  test("is the end of a log, also when its lines are long", async () => {
    const long = running("main", ...Array.from({ length: 200 }, (_, line) => `${line} ${"x".repeat(10_000)}`));
    world.kubelet.pods.push(pod({}, long));
    const texts = await tail(200);
    expect(texts.at(-1)).toMatch(/^199 /);
    expect(texts.every((text) => text.endsWith("xx"))).toBe(true);
    for (const { query } of logRequests()) expect(query.get("limitBytes")).toBe("524288");
  });

  test("is nothing that the kubelet says itself", async () => {
    world.kubelet.pods.push(pod({}, running("main", "one")));
    world.kubelet.broken.set("main", (_request, response) =>
      response.end("unable to retrieve container logs for containerd://4f\n"),
    );
    expect(await tail()).toEqual([]);
  });

  test("is nothing of a namespace of a former environment of the name, whose pods are still there", async () => {
    world.kubelet.pods.push(pod({}, running("main", "of another pod")));
    expect(await world.podLogs.tail(stranger, backend, { lines: 10 })).toEqual([]);
    const follower = following(world.podLogs, {}, stranger);
    await until(() => follower.batches > 0, { what: "an empty batch" });
    expect(follower.texts()).toEqual([]);
    await follower.stop();
    expect(world.server.seen).toEqual([]);
    expect(await tail()).toEqual(["of another pod"]);
  });

  test("is that of all pods, where no label says a component: a foreign chart", async () => {
    world.kubelet.pods.push(
      pod({ labels: { "app.kubernetes.io/name": "podinfo" } }, running("main", "of podinfo")),
      pod({ labels: { app: "redis" } }, running("main", "of redis")),
      pod({ component: "database" }, running("main", "of the platform's database")),
      pod({ namespace: "env-other", labels: {} }, running("main", "of another environment")),
    );
    expect(await tail()).toEqual(["of podinfo", "of redis"]);
  });

  test("is that of the pods that a selector fits, and of no others", async () => {
    world.kubelet.pods.push(
      pod({ labels: { app: "api" } }, running("main", "of the api")),
      pod({ labels: { app: "redis" } }, running("main", "of redis")),
    );
    const labelled = (app: string) => ({ component: "backend", selectors: { backend: { labels: { app } } } }) as const;
    expect(textsOf(await world.podLogs.tail(shop, labelled("api"), { lines: 9 }))).toEqual(["of the api"]);
    expect(textsOf(await world.podLogs.tail(shop, labelled("nope"), { lines: 9 }))).toEqual([]);
  });

  test("is that of a workload's pods alone: of a CronJob's those of all its runs", async () => {
    world.kubelet.pods.push(
      pod({ owner: { kind: "StatefulSet", name: "redis" } }, running("main", "of redis")),
      pod({ owner: { kind: "Job", name: "report-1" } }, running("main", "of a run")),
    );
    const metadata = { name: "report-1", uid: "uid-Job-report-1" };
    const job = { metadata: { ...metadata, ownerReferences: [{ kind: "CronJob", name: "report" }] } };
    world.server.on(
      ({ path }) => path.endsWith("/namespaces/env-shop/jobs"),
      json({ metadata: { resourceVersion: "1" }, items: [job] }),
    );
    const of = async (kind: string, name: string) =>
      textsOf(await world.podLogs.tail(shop, { workload: { kind, name } }, { lines: 9 }));
    expect(await of("StatefulSet", "redis")).toEqual(["of redis"]);
    expect(await of("CronJob", "report")).toEqual(["of a run"]);
    expect(await of("Deployment", "redis")).toEqual([]);
  });

  test("of a workload has no value of the Secrets that its pods see", async () => {
    world.kubelet.secrets.set("redis", { PASSWORD: "correct-horse" });
    const owner = { kind: "StatefulSet", name: "redis" };
    world.kubelet.pods.push(pod({ owner, secrets: ["redis"] }, running("main", "auth correct-horse")));
    expect(textsOf(await world.podLogs.tail(shop, { workload: owner }, { lines: 9 }))).toEqual(["auth ***"]);
  });

  test("is nothing before the namespace is ours", async () => {
    const closed = await startFakeApiServer();
    closed.on(() => true, status(403, "Forbidden"));
    const refused = createKubeClient({ kubeConfig: closed.kubeConfig });
    expect(await logsThrough(refused).tail(shop, backend, { lines: 1 })).toEqual([]);
    await refused.close();
    await closed.close();
  });

  test.each([
    { name: "that can't be asked", answer: status(500, "InternalError") },
    { name: "that never answers", answer: silence },
  ])(
    "of a container $name is one line that says so, beside what others wrote",
    async ({ answer }) => {
      world.kubelet.pods.push(pod({ name: "stuck-pod" }, running("stuck"), running("main", "fine")));
      world.kubelet.broken.set("stuck", answer);
      expect((await tail()).sort()).toEqual([
        "WARN the log of container 'stuck' of pod 'stuck-pod' can't be read now",
        "fine",
      ]);
    },
    20_000,
  );

  test("is read eight times at once, also for those who follow, and of one environment four containers at once", async () => {
    let open = 0;
    let mostOpen = 0;
    const held: (() => void)[] = [];
    world.kubelet.pods.push(pod({}, ...Array.from({ length: 6 }, () => running("main"))));
    world.kubelet.broken.set("main", (_request, response) => {
      open += 1;
      mostOpen = Math.max(mostOpen, open);
      held.push(() => {
        open -= 1;
        response.end();
      });
    });
    const slow = kubernetesPodLogs({ client: world.client, cluster: ours, services: [], clock: fastClock(0.01) });
    let answered = 0;
    const begin = async () => {
      const selection = { lines: 1, signal: new AbortController().signal };
      for await (const _batch of slow.follow(shop, backend, selection)) return;
    };
    const reads = Array.from({ length: 10 }, async (_, index) => {
      await (index % 2 === 0 ? begin() : slow.tail(shop, backend, { lines: 1 }));
      answered += 1;
    });
    await until(() => open === 32, { what: "eight times four reads" });
    await until(() => {
      for (const release of held.splice(0)) release();
      return answered === 10;
    });
    await Promise.all(reads);
    expect(mostOpen).toBe(32);
  });
});
