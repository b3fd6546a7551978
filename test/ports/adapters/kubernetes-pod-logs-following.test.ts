import { describe, expect, test } from "@jest/globals";
import { kubernetesPodLogs } from "../../../operator/adapters/pod-logs/pod-logs.ts";
import { fastClock } from "../../support/doubles/fast-clock.ts";
import { until } from "../../support/fixtures/until.ts";
import { ago, backend, following, shop } from "../suites/pod-logs.suite.ts";
import { ours, podsWithLogs, running } from "./pods-with-logs.ts";

const world = podsWithLogs();
const { pod, tail } = world;

describe("a follower", () => {
  /** Two containers of one pod, both followed. */
  async function followed(...texts: string[]) {
    const main = running("main", ...texts);
    world.kubelet.pods.push(pod({}, main, running("sidecar")));
    const follower = following(world.podLogs);
    await until(() => world.kubelet.followers === 2, { what: "a stream for each container" });
    return { main, follower };
  }

  test("receives all runs of a container, however often it is restarted, each line once", async () => {
    const { main, follower } = await followed("run 0");
    for (let run = 1; run < 4; run += 1) {
      world.kubelet.write(main, { at: new Date(), text: `run ${run - 1} ends` });
      world.kubelet.restart(main);
      world.kubelet.write(main, { at: new Date(), text: `run ${run}` });
      await until(() => follower.texts().includes(`run ${run}`), { what: `run ${run}`, deadlineMs: 10_000 });
    }
    expect(follower.texts()).toEqual(["run 0", "run 0 ends", "run 1", "run 1 ends", "run 2", "run 2 ends", "run 3"]);
    await follower.stop();
  }, 40_000);

  test("loses and repeats nothing when streams are cut", async () => {
    const { main, follower } = await followed("one");
    world.kubelet.write(main, { at: new Date(), text: "two" });
    await until(() => follower.lines.length === 2, { what: "two lines" });
    world.kubelet.cut();
    await until(() => world.kubelet.followers === 0, { what: "the cut" });
    world.kubelet.write(main, { at: new Date(), text: "three" });
    await until(() => follower.lines.length === 3, { what: "the third line" });
    expect(follower.texts()).toEqual(["one", "two", "three"]);
    await follower.stop();
  });

  test("misses nothing when coming again, although the clock of one node is behind another's", async () => {
    const [ahead, behind, silent] = [running("main"), running("main"), running("main")];
    world.kubelet.pods.push(pod({}, ahead), pod({}, behind), pod({}, silent));
    world.kubelet.write(silent, { at: ago(3_600_000), text: "an hour ago" });
    world.kubelet.write(ahead, { at: ago(20_000), text: "long told" });
    world.kubelet.write(behind, { at: ago(5_000), text: "told behind" });
    world.kubelet.write(ahead, { at: ago(0), text: "told ahead" });
    const first = following(world.podLogs);
    await until(() => first.lines.length === 4, { what: "what there is" });
    await first.stop();
    world.kubelet.write(behind, { at: ago(4_000), text: "missed" });
    const second = following(world.podLogs, { after: first.lines.at(-1)?.position ?? "" });
    await until(() => second.lines.length === 3, { what: "the rest" });
    expect(second.texts()).toEqual(["told behind", "missed", "told ahead"]);
    await second.stop();
  });

  test("receives new pods", async () => {
    const { follower } = await followed();
    world.kubelet.pods.push(pod({}, running("main", "a new pod")));
    await until(() => follower.lines.length === 1, { what: "the new pod's line" });
    expect(follower.texts()).toEqual(["a new pod"]);
    await follower.stop();
  });

  test("hears nothing of what is older than was asked for", async () => {
    const main = running("main");
    main.runs.at(-1)?.lines.push({ at: ago(120_000), text: "old" });
    world.kubelet.pods.push(pod({}, main));
    const follower = following(world.podLogs, { sinceSeconds: 60 });
    await until(() => world.kubelet.followers === 1, { what: "the stream" });
    world.kubelet.write(main, { at: new Date(), text: "new" });
    await until(() => follower.lines.length === 1, { what: "the line" });
    expect(follower.texts()).toEqual(["new"]);
    await follower.stop();
  });

  test("gets the lines of several containers in order when they come within a moment", async () => {
    const [one, other] = [running("main"), running("sidecar")];
    world.kubelet.pods.push(pod({}, one, other));
    const unhurried = kubernetesPodLogs({ client: world.client, cluster: ours, services: [], clock: fastClock(0.2) });
    const follower = following(unhurried);
    await until(() => world.kubelet.followers === 2, { what: "both streams" });
    world.kubelet.write(one, { at: ago(10), text: "second" });
    world.kubelet.write(other, { at: ago(20), text: "first" });
    await until(() => follower.lines.length === 2, { what: "both lines" });
    expect(follower.texts()).toEqual(["first", "second"]);
    await follower.stop();
  });

  test("leaves no stream behind", async () => {
    const { follower } = await followed();
    await follower.stop();
    await until(() => world.kubelet.followers === 0, { what: "the end of all streams" });
  });

  test("who takes nothing more has nothing more read", async () => {
    const main = running("main");
    world.kubelet.pods.push(pod({}, main));
    const ending = new AbortController();
    const batches = world.podLogs.follow(shop, backend, { lines: 1, signal: ending.signal })[Symbol.asyncIterator]();
    await batches.next();
    await Promise.all([batches.next(), until(() => world.kubelet.followers === 1, { what: "the stream" })]);
    for (let line = 0; line < 4_000; line += 1) world.kubelet.write(main, { at: new Date(), text: "x".repeat(16_000) });
    // 64 MB wait at the other end of the connection; they would arrive during ten other calls.
    for (let call = 0; call < 10; call += 1) await tail(1);
    const { value } = await batches.next();
    expect((value ?? []).length).toBeLessThan(200);
    ending.abort();
    await batches.return?.();
  });
});
