import { expect, test } from "@jest/globals";
import { MINUTE_MS } from "../../../../../crds/durations.ts";
import { namespaceName } from "../../../../../crds/names.ts";
import { ObservedRequests } from "../../../../../operator/controllers/activity/observed-requests.ts";
import { OwnProbes } from "../../../../../operator/controllers/activity/own-probes.ts";
import { createActivityReconciler } from "../../../../../operator/controllers/activity/reconcile.ts";
import { IngressTrafficUnavailable } from "../../../../../operator/ports/ingress-traffic.ts";
import { memoryIngressTraffic } from "../../../../support/doubles/memory/ingress-traffic.ts";
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
  const ingressTraffic = memoryIngressTraffic();
  const observedRequests = new ObservedRequests({ clock, hasSource: true });
  const ownProbes = new OwnProbes();
  const dependencies = { environments: { list: () => environments }, observedRequests, ownProbes, ingressTraffic };
  const reconcile = createActivityReconciler(dependencies);
  return {
    shop,
    monitored,
    environments,
    ingressTraffic,
    observedRequests,
    ownProbes,
    /** A reading, a minute after the former one. */
    async read(requests: Readonly<Record<string, number>> = {}) {
      clock.advance(MINUTE_MS);
      for (const [name, count] of Object.entries(requests)) ingressTraffic.passesOn(namespaceName(name), count);
      return { result: await reconcile("requests", run), now: clock.now() };
    },
  };
}

test("requests to environments that may sleep when idle are read each minute", async () => {
  const { read, observedRequests, shop, monitored } = scene();
  expect((await read()).result).toEqual({ requeueAfterMs: MINUTE_MS });
  const { now } = await read({ shop: 1, monitored: 4, sleepless: 9 });
  expect(observedRequests.of(shop)?.lastRequestAt).toEqual(now);
  expect(observedRequests.of(monitored)).toEqual(expect.not.objectContaining({ lastRequestAt: expect.anything() }));
});

test("requests of our own prober are no activity, also when a reading fails between", async () => {
  const { read, ownProbes, ingressTraffic, observedRequests, shop } = scene();
  await read();
  const prober = ownProbes.counted({ probe: async () => ({ status: "healthy", responseTimeMs: 1, message: "" }) });
  await prober.probe("https://shop.example.org", "/");
  ingressTraffic.fails(true);
  await expect(read({ shop: 1 })).rejects.toThrow(IngressTrafficUnavailable);
  ingressTraffic.fails(false);
  await prober.probe("https://shop.example.org", "/");
  await read({ shop: 1 });
  expect(observedRequests.of(shop)).toMatchObject({ observedSince: expect.any(Date) });
  expect(observedRequests.of(shop)?.lastRequestAt).toBeUndefined();
});

test("nothing is read while all of them are asleep, as the ingress may have no figures then", async () => {
  const { read, environments, ingressTraffic, observedRequests, shop } = scene();
  const asleep = { state: "asleep", since: BEGIN, cause: "idle", afterIdleMinutes: 60 } as const;
  environments.splice(0, environments.length, { ...shop, status: { ...shop.status, sleep: asleep } });
  ingressTraffic.fails(true);
  expect((await read()).result).toEqual({ requeueAfterMs: MINUTE_MS });
  expect(observedRequests.problem()).toBeUndefined();
});
