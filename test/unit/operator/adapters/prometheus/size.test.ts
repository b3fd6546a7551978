import { expect, test } from "@jest/globals";
import { listRoutes } from "../../../../../api/routes.ts";
import type { EphemeralEnvironment } from "../../../../../crds/environment/ephemeral-environment.ts";
import type { Notification } from "../../../../../crds/notifications/notification.ts";
import type { WebhookDelivery } from "../../../../../crds/webhooks/webhook-delivery.ts";
import { hostCalls } from "../../../../../operator/adapters/host-api/host-calls.ts";
import { prometheusMetrics } from "../../../../../operator/adapters/prometheus/metrics.ts";
import { createObjectCache } from "../../../../../operator/kit/cache/indexed-cache.ts";
import { systemClock as clock } from "../../../../../operator/kit/time/clock.ts";
import { environmentFixture } from "../../../../support/fixtures/environment/environment-fixture.ts";
import { silentLog } from "../../../../support/fixtures/silent-log.ts";

const ENVIRONMENTS = 10_000;
/** Far more than there are. */
const [CONTROLLERS, LOOPS, CODES] = [20, 20, [200, 201, 400, 401, 403, 404, 409, 413, 429, 499, 500, 503]];

test("a scrape of a leader that has seen everything is below a megabyte with ten thousand environments, and names none", async () => {
  const metrics = prometheusMetrics();
  const environments = createObjectCache<EphemeralEnvironment>({ clock });
  metrics.observe({
    caches: {
      environments,
      webhookDeliveries: createObjectCache<WebhookDelivery>({ clock }),
      notifications: createObjectCache<Notification>({ clock }),
    },
    watches: { progressAgesMs: new Map([["environments", 1_500]]) },
    hostCalls: hostCalls(silentLog),
    isLeading: () => true,
    clock,
  });
  for (let index = 0; index < ENVIRONMENTS; index += 1) {
    const metadata = { name: `seen-${index}`, uid: `uid-${index}`, resourceVersion: String(index + 1) };
    environments.upsert(environmentFixture({ metadata, status: { phase: "ready" } }));
  }
  const calm = { depth: 0, depthOf: () => 0, inWork: 0, workingMs: () => ({ sum: 0, longest: 0 }) };
  for (let index = 0; index < CONTROLLERS; index += 1) {
    const counts = metrics.controllers.of({ name: `a controller with a name, ${index}`, workers: 1 }, calm);
    counts.taken(1);
    counts.reconciled("done", 1);
  }
  for (let index = 0; index < LOOPS; index += 1) metrics.loopSucceeded(`loop ${index}`);
  for (const { contract } of listRoutes()) {
    const request = { method: contract.method.toUpperCase(), route: contract.path, durationMs: 1, isStream: false };
    for (const status of CODES) metrics.requests.ended({ ...request, status });
  }
  const { text } = await metrics.scrape();
  expect(text).toContain(`ephemeral_environments{phase="ready"} ${ENVIRONMENTS}\n`);
  expect(text).not.toContain("seen-");
  expect(Buffer.byteLength(text)).toBeLessThan(1_000_000);
});
