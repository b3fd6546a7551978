import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { kubernetesPodLogs } from "../../../operator/adapters/pod-logs/pod-logs.ts";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import { systemClock } from "../../../operator/kit/time/clock.ts";
import type { Cluster } from "../../../operator/ports/cluster.ts";
import type { PodLogs } from "../../../operator/ports/facade/pod-logs.ts";
import {
  type FakeApiServer,
  reset,
  silence,
  startFakeApiServer,
  status,
} from "../../support/doubles/fake-api-server.ts";
import { fastClock } from "../../support/doubles/fast-clock.ts";
import { until } from "../../support/fixtures/until.ts";
import { type FakeContainer, FakeKubelet, type FakePod, lineAt } from "../../support/plane/fake-kubelet.ts";
import { ago, following, podLogsSuite, shop, textsOf } from "../suites/pod-logs.suite.ts";

/** Reading has its real deadlines; the pauses of following are shorter. */
const HURRY = 4;

/** Every namespace is the environment's that asks, but for a stranger's. */
const stranger = { name: "shop", uid: "another" };
const ours: Pick<Cluster, "observe"> = {
  observe: ({ uid }, { kind }, { name }) =>
    uid === stranger.uid
      ? undefined
      : { apiVersion: "v1", kind, metadata: { name, uid: "namespace", resourceVersion: "1" } },
};

function logsThrough(client: KubeClient): PodLogs {
  const { tail } = kubernetesPodLogs({ client, cluster: ours, clock: systemClock });
  const { follow } = kubernetesPodLogs({ client, cluster: ours, clock: fastClock(HURRY) });
  return { tail, follow };
}

async function startWorld(isReachable = () => true) {
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

function running(name: string, ...texts: string[]): FakeContainer {
  return { name, isRunning: true, runs: [{ lines: texts.map((text) => lineAt({ at: new Date(), text })) }] };
}

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

const tail = async (lines = 100) => textsOf(await podLogs.tail(shop, "backend", { lines }));
const logRequests = () => server.seen.filter(({ path }) => path.endsWith("/log"));

describe("what is read", () => {
  test("is every container of every pod, also those that prepare it, and the run before, by time", async () => {
    const at = (second: number) => `2026-01-01T00:00:0${second}.000000000Z`;
    const run = (...lines: [second: number, text: string][]) => ({
      lines: lines.map(([second, text]) => ({ at: at(second), text })),
    });
    kubelet.pods.push(
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
    kubelet.pods.push(...lines.map((line) => pod({}, { name: "main", isRunning: true, runs: [{ lines: [line] }] })));
    expect(await podLogs.tail(shop, "backend", { lines: 9 })).toEqual([
      { at: "2026-01-01T00:00:00.000000001Z", text: "first" },
      { at: "2026-01-01T00:00:00.000000002Z", text: "second" },
      { at: "2026-01-01T00:00:00.000000003Z", text: "third" },
      { at: "2026-01-01T00:00:01.000000000Z", text: "" },
    ]);
  });

  test("is the end of a log, also when its lines are long", async () => {
    const long = running("main", ...Array.from({ length: 200 }, (_, line) => `${line} ${"x".repeat(10_000)}`));
    kubelet.pods.push(pod({}, long));
    const texts = await tail(200);
    expect(texts.at(-1)).toMatch(/^199 /);
    expect(texts.every((text) => text.endsWith("xx"))).toBe(true);
    for (const { query } of logRequests()) expect(query.get("limitBytes")).toBe("524288");
  });

  test("is nothing that the kubelet says itself", async () => {
    kubelet.pods.push(pod({}, running("main", "one")));
    kubelet.broken.set("main", (_request, response) =>
      response.end("unable to retrieve container logs for containerd://4f\n"),
    );
    expect(await tail()).toEqual([]);
  });

  test("is nothing of a namespace that a namesake left behind, whose pods are still there", async () => {
    kubelet.pods.push(pod({}, running("main", "of somebody else")));
    expect(await podLogs.tail(stranger, "backend", { lines: 10 })).toEqual([]);
    const follower = following(podLogs, {}, stranger);
    await until(() => follower.batches > 0, { what: "an empty batch" });
    expect(follower.texts()).toEqual([]);
    await follower.stop();
    expect(server.seen).toEqual([]);
    expect(await tail()).toEqual(["of somebody else"]);
  });

  test("is nothing before the namespace is ours", async () => {
    const closed = await startFakeApiServer();
    closed.on(() => true, status(403, "Forbidden"));
    const refused = createKubeClient({ kubeConfig: closed.kubeConfig });
    expect(await logsThrough(refused).tail(shop, "backend", { lines: 1 })).toEqual([]);
    await refused.close();
    await closed.close();
  });

  test.each([
    { name: "that can't be asked", answer: status(500, "InternalError") },
    { name: "that never answers", answer: silence },
  ])(
    "of a container $name is one line that says so, beside what others wrote",
    async ({ answer }) => {
      kubelet.pods.push(pod({ name: "stuck-pod" }, running("stuck"), running("main", "fine")));
      kubelet.broken.set("stuck", answer);
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
    kubelet.pods.push(pod({}, ...Array.from({ length: 6 }, () => running("main"))));
    kubelet.broken.set("main", (_request, response) => {
      open += 1;
      mostOpen = Math.max(mostOpen, open);
      held.push(() => {
        open -= 1;
        response.end();
      });
    });
    const slow = kubernetesPodLogs({ client, cluster: ours, clock: fastClock(0.01) });
    let answered = 0;
    const begin = async () => {
      const selection = { lines: 1, signal: new AbortController().signal };
      for await (const _batch of slow.follow(shop, "backend", selection)) return;
    };
    const reads = Array.from({ length: 10 }, async (_, index) => {
      await (index % 2 === 0 ? begin() : slow.tail(shop, "backend", { lines: 1 }));
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

describe("a value of a Secret", () => {
  const PASSWORD = "correct-horse/battery+staple";
  const KEY = "-----BEGIN KEY-----\nMIIBVgIBADANBgkqhkiG\n-----END KEY-----";

  beforeEach(() => {
    kubelet.secrets.set("environment-secrets-1", { DATABASE_PASSWORD: PASSWORD, KEY });
  });

  test("is masked wherever a line has it, in JSON and in a line of many", async () => {
    const lines = [`password=${PASSWORD}`, JSON.stringify({ msg: PASSWORD }), ...KEY.split("\n"), "after"];
    kubelet.pods.push(pod({ secrets: ["environment-secrets-1"] }, running("main", ...lines)));
    expect(await tail()).toEqual(["password=***", '{"msg":"***"}', "***", "***", "***", "after"]);
  });

  test("is masked in what one pod says of another's", async () => {
    kubelet.pods.push(pod({ secrets: ["environment-secrets-1"] }), pod({}, running("main", `got ${PASSWORD}`)));
    expect(await tail()).toEqual(["got ***"]);
  });

  test("is masked for whoever follows, also in a pod that comes later", async () => {
    const follower = following(podLogs);
    kubelet.pods.push(pod({ secrets: ["environment-secrets-1"] }, running("main", `got ${PASSWORD}`)));
    await until(() => follower.lines.length === 1, { what: "the line" });
    expect(follower.texts()).toEqual(["got ***"]);
    await follower.stop();
  });

  test("that is gone keeps the log of its pod from being shown", async () => {
    kubelet.pods.push(
      pod({ name: "old", secrets: ["environment-secrets-0"] }, running("main", "old secret")),
      pod({ name: "waiting", secrets: ["environment-secrets-0"] }, { name: "main", isRunning: false, runs: [] }),
      pod({}, running("main", "fine")),
    );
    const expected = ["fine", expect.stringMatching(/^WARN the log of pod 'old' is not shown: a Secret .* is gone/)];
    expect(await tail()).toEqual(expected);
    const follower = following(podLogs);
    await until(() => follower.lines.length === 2, { what: "both lines" });
    expect(follower.texts()).toEqual(expected);
    await follower.stop();
  });

  test("that may not be read keeps the log of its pod from being shown, and no other's", async () => {
    kubelet.withheld.add("environment-secrets-1");
    kubelet.pods.push(
      pod({ name: "closed", secrets: ["environment-secrets-1"] }, running("main", PASSWORD)),
      pod({}, running("main", "fine")),
    );
    expect(await tail()).toEqual(["fine", expect.stringMatching(/^WARN the log of pod 'closed' is not shown: /)]);
  });

  const secretReads = () => server.seen.filter(({ path }) => /\/secrets\b/.test(path));
  const named = Array.from({ length: 200 }, (_, index) => `secret-${index}`);

  test("is read once, however many pods name it", async () => {
    kubelet.pods.push(...Array.from({ length: 5 }, () => pod({ secrets: ["environment-secrets-1"] }, running("main"))));
    await tail();
    expect(secretReads()).toHaveLength(1);
  });

  test("abuse 91: costs a look one read, however many Secrets pods name, there or not", async () => {
    for (const name of named.slice(0, 100)) kubelet.secrets.set(name, { A: `value-of-${name}` });
    const said = `value-of-${named[7]} value-of-${named[99]}`;
    kubelet.pods.push(pod({ secrets: named.slice(0, 60) }, running("main", said)));
    kubelet.pods.push(pod({ secrets: named.slice(40, 100) }), pod({ secrets: named }, running("main", "withheld")));
    expect(await tail()).toEqual(["*** ***", expect.stringMatching(/^WARN the log of pod '.*' is not shown: /)]);
    expect(secretReads()).toHaveLength(1);
    const follower = following(podLogs);
    await until(() => follower.lines.length === 2, { what: "both lines" });
    await follower.stop();
    expect(secretReads()).toHaveLength(2);
  });

  test("abuse 90: that can't be masked in time and memory is no line but one that says so", async () => {
    kubelet.secrets.set("environment-secrets-1", { A: "x".repeat(400 * 1024) });
    kubelet.pods.push(pod({ secrets: ["environment-secrets-1"] }, running("main", "xxx", "yyy", "xxx")));
    const expected = [
      expect.stringMatching(/^WARN what was written is not shown, because its secrets can't be masked: /),
    ];
    expect(await tail()).toEqual(expected);
    const follower = following(podLogs);
    await until(() => follower.lines.length > 0, { what: "the line" });
    await follower.stop();
    expect(follower.texts()).toEqual(expected);
    const last = kubelet.pods[0]?.containers[0]?.runs[0]?.lines.at(-1)?.at;
    expect(follower.lines[0]).toMatchObject({ at: last, position: last });
  });
});

describe("whoever follows", () => {
  /** Two containers of one pod, both followed. */
  async function followed(...texts: string[]) {
    const main = running("main", ...texts);
    kubelet.pods.push(pod({}, main, running("sidecar")));
    const follower = following(podLogs);
    await until(() => kubelet.followers === 2, { what: "a stream for each container" });
    return { main, follower };
  }

  test("is told all runs of a container, however often it is restarted, each line once", async () => {
    const { main, follower } = await followed("run 0");
    for (let run = 1; run < 4; run += 1) {
      kubelet.write(main, { at: new Date(), text: `run ${run - 1} ends` });
      kubelet.restart(main);
      kubelet.write(main, { at: new Date(), text: `run ${run}` });
      await until(() => follower.texts().includes(`run ${run}`), { what: `run ${run}`, deadlineMs: 10_000 });
    }
    expect(follower.texts()).toEqual(["run 0", "run 0 ends", "run 1", "run 1 ends", "run 2", "run 2 ends", "run 3"]);
    await follower.stop();
  }, 40_000);

  test("loses and repeats nothing when streams are cut", async () => {
    const { main, follower } = await followed("one");
    kubelet.write(main, { at: new Date(), text: "two" });
    await until(() => follower.lines.length === 2, { what: "two lines" });
    kubelet.cut();
    await until(() => kubelet.followers === 0, { what: "the cut" });
    kubelet.write(main, { at: new Date(), text: "three" });
    await until(() => follower.lines.length === 3, { what: "the third line" });
    expect(follower.texts()).toEqual(["one", "two", "three"]);
    await follower.stop();
  });

  test("misses nothing when coming again, although the clock of one node is behind another's", async () => {
    const [ahead, behind, silent] = [running("main"), running("main"), running("main")];
    kubelet.pods.push(pod({}, ahead), pod({}, behind), pod({}, silent));
    kubelet.write(silent, { at: ago(3_600_000), text: "an hour ago" });
    kubelet.write(ahead, { at: ago(20_000), text: "long told" });
    kubelet.write(behind, { at: ago(5_000), text: "told behind" });
    kubelet.write(ahead, { at: ago(0), text: "told ahead" });
    const first = following(podLogs);
    await until(() => first.lines.length === 4, { what: "what there is" });
    await first.stop();
    kubelet.write(behind, { at: ago(4_000), text: "missed" });
    const second = following(podLogs, { after: first.lines.at(-1)?.position ?? "" });
    await until(() => second.lines.length === 3, { what: "the rest" });
    expect(second.texts()).toEqual(["told behind", "missed", "told ahead"]);
    await second.stop();
  });

  test("is told of new pods", async () => {
    const { follower } = await followed();
    kubelet.pods.push(pod({}, running("main", "a new pod")));
    await until(() => follower.lines.length === 1, { what: "the new pod's line" });
    expect(follower.texts()).toEqual(["a new pod"]);
    await follower.stop();
  });

  test("hears nothing of what is older than was asked for", async () => {
    const main = running("main");
    main.runs.at(-1)?.lines.push({ at: ago(120_000), text: "old" });
    kubelet.pods.push(pod({}, main));
    const follower = following(podLogs, { sinceSeconds: 60 });
    await until(() => kubelet.followers === 1, { what: "the stream" });
    kubelet.write(main, { at: new Date(), text: "new" });
    await until(() => follower.lines.length === 1, { what: "the line" });
    expect(follower.texts()).toEqual(["new"]);
    await follower.stop();
  });

  test("gets the lines of several containers in order when they come within a moment", async () => {
    const [one, other] = [running("main"), running("sidecar")];
    kubelet.pods.push(pod({}, one, other));
    const unhurried = kubernetesPodLogs({ client, cluster: ours, clock: fastClock(0.2) });
    const follower = following(unhurried);
    await until(() => kubelet.followers === 2, { what: "both streams" });
    kubelet.write(one, { at: ago(10), text: "second" });
    kubelet.write(other, { at: ago(20), text: "first" });
    await until(() => follower.lines.length === 2, { what: "both lines" });
    expect(follower.texts()).toEqual(["first", "second"]);
    await follower.stop();
  });

  test("leaves no stream behind", async () => {
    const { follower } = await followed();
    await follower.stop();
    await until(() => kubelet.followers === 0, { what: "the end of all streams" });
  });

  test("who takes nothing more has nothing more read", async () => {
    const main = running("main");
    kubelet.pods.push(pod({}, main));
    const ending = new AbortController();
    const batches = podLogs.follow(shop, "backend", { lines: 1, signal: ending.signal })[Symbol.asyncIterator]();
    await batches.next();
    await Promise.all([batches.next(), until(() => kubelet.followers === 1, { what: "the stream" })]);
    for (let line = 0; line < 4_000; line += 1) kubelet.write(main, { at: new Date(), text: "x".repeat(16_000) });
    // 64 MB wait on the other side of the connection; they would be here by the time that ten other calls are answered.
    for (let call = 0; call < 10; call += 1) await tail(1);
    const { value } = await batches.next();
    expect((value ?? []).length).toBeLessThan(200);
    ending.abort();
    await batches.return?.();
  });
});
