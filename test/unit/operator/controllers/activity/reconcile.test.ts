import { expect, test } from "@jest/globals";
import { MINUTE_MS } from "../../../../../crds/durations.ts";
import { namespaceName } from "../../../../../crds/names.ts";
import { ObservedRequests } from "../../../../../operator/controllers/activity/observed-requests.ts";
import { OwnProbes } from "../../../../../operator/controllers/activity/own-probes.ts";
import { createActivityReconciler } from "../../../../../operator/controllers/activity/reconcile.ts";
import { IngressTrafficUnavailable } from "../../../../../operator/ports/ingress-traffic.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { environmentFixture } from "../../../../support/fixtures/environment/environment-fixture.ts";

const BEGIN = "2026-03-02T08:00:00.000Z";
const run = { signal: new AbortController().signal, requeueUrgently: () => {} };
const idleAfter = (name: string, minimumRequests?: number) =>
  environmentFixture({
    metadata: { name, uid: name },
    status: {
      urls: { backend: `https://${name}.example.org` },
      sleep: {
        state: "awake",
        since: BEGIN,
        afterIdleMinutes: 60,
        ...(minimumRequests === undefined ? {} : { minimumRequests }),
      },
    },
  });

function scene() {
  const clock = new TestClock(BEGIN);
  const [shop, monitored] = [idleAfter("shop"), idleAfter("monitored", 5)];
  const environments = [shop, monitored, environmentFixture({ metadata: { name: "sleepless", uid: "sleepless" } })];
  let answer: ReadonlyMap<string, number> | undefined = new Map();
  const namespaces: string[][] = [];
  const observedRequests = new ObservedRequests({ clock, hasSource: true });
  const ownProbes = new OwnProbes();
  const reconcile = createActivityReconciler({
    environments: { list: () => environments },
    observedRequests,
    ownProbes,
    ingressTraffic: {
      async requestsSinceLast(given) {
        namespaces.push([...given]);
        if (answer === undefined) throw new IngressTrafficUnavailable("the ingress does not answer");
        return answer;
      },
      close: async () => {},
    },
  });
  return {
    shop,
    monitored,
    namespaces,
    observedRequests,
    ownProbes,
    /** A reading, a minute after the former one. */
    async read(requests: Readonly<Record<string, number>> | undefined) {
      clock.advance(MINUTE_MS);
      answer = requests && new Map(Object.entries(requests).map(([name, count]) => [namespaceName(name), count]));
      const result = await reconcile("requests", run);
      return { result, now: clock.now() };
    },
  };
}

test("requests to environments that may sleep when idle are read each minute", async () => {
  const { read, namespaces, observedRequests, shop, monitored } = scene();
  expect((await read({})).result).toEqual({ requeueAfterMs: MINUTE_MS });
  expect(namespaces).toEqual([[namespaceName("shop"), namespaceName("monitored")]]);
  const { now } = await read({ shop: 1, monitored: 4 });
  expect(observedRequests.of(shop)?.lastRequestAt).toEqual(now);
  expect(observedRequests.of(monitored)?.lastRequestAt).toBeUndefined();
});

test("requests of our own prober are no activity, also when a reading fails between", async () => {
  const { read, ownProbes, observedRequests, shop } = scene();
  await read({});
  const prober = ownProbes.counted({ probe: async () => ({ status: "healthy", responseTimeMs: 1, message: "" }) });
  await prober.probe("https://shop.example.org", "/");
  await expect(read(undefined)).rejects.toThrow(IngressTrafficUnavailable);
  await prober.probe("https://shop.example.org", "/");
  await read({ shop: 2 });
  expect(observedRequests.of(shop)).toMatchObject({ observedSince: expect.any(Date) });
  expect(observedRequests.of(shop)?.lastRequestAt).toBeUndefined();
});
