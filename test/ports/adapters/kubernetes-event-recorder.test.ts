import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { kubernetesEventRecorder } from "../../../operator/adapters/kubernetes/event-recorder.ts";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import { eventKind, type WireObject } from "../../../operator/kit/client/kinds.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import type { Facts, Log } from "../../../operator/kit/log.ts";
import type { Event } from "../../../operator/ports/event-recorder.ts";
import { TestClock } from "../../support/doubles/test-clock.ts";
import { kubeConfigOf } from "../../support/fixtures/kube-config.ts";
import { silentLog } from "../../support/fixtures/silent-log.ts";
import { until } from "../../support/fixtures/until.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { unique } from "../../support/plane/people.ts";
import { eventRecorderSuite } from "../suites/event-recorder.suite.ts";

const plane = await controlPlane();

const namespace = "ephemeral-system";

let client: KubeClient;
/** The platform may write Events, and neither read nor remove them. */
let admin: KubeClient;
beforeAll(async () => {
  const kubeConfig = kubeConfigOf(plane, plane.platform.token);
  client = createKubeClient({ kubeConfig });
  const all = kubeConfigOf(plane, plane.adminToken);
  admin = createKubeClient({ kubeConfig: all });
}, 60_000);
afterAll(() => Promise.all([client.close(), admin.close()]));

interface StoredEvent extends WireObject {
  readonly type: Event["type"];
  readonly reason: string;
  readonly action: string;
  readonly note: string;
  readonly regarding: { readonly kind: string; readonly name: string };
  readonly series?: { readonly count: number };
  readonly reportingInstance: string;
}

/** A recorder with a unique reporting instance. */
function recorder(clock = new TestClock(), more: { readonly namespace?: string; readonly log?: Log } = {}) {
  const [serviceAccount, instance] = ["platform", unique("platform-")];
  const events = kubernetesEventRecorder({
    client,
    namespace,
    serviceAccount,
    instance,
    clock,
    log: silentLog,
    ...more,
  });
  const stored = async () => {
    const { items } = await admin.list(eventKind);
    return (items as readonly StoredEvent[]).filter(({ reportingInstance }) => reportingInstance === instance);
  };
  return { clock, events, stored };
}

eventRecorderSuite("on Kubernetes", async () => {
  const { clock, events, stored } = recorder();
  return {
    clock,
    events,
    async reported(reason) {
      const found = (await stored()).filter((event) => event.reason === reason);
      return found.map(({ type, action, note: message, regarding, series: { count } = { count: 1 } }) => ({
        type,
        reason,
        action,
        message,
        count,
        ...(regarding.kind === "EphemeralEnvironment" ? { environment: regarding.name } : {}),
      }));
    },
    async stop() {
      for (const { metadata } of await stored()) await admin.delete(eventKind, metadata);
    },
  };
});

test("an event that can't be written is in the log, and nothing else comes of it", async () => {
  const lines: (Facts | undefined)[] = [];
  const log: Log = { ...silentLog, warn: (_message, facts) => void lines.push(facts) };
  const { events } = recorder(new TestClock(), { namespace: unique("absent-"), log });
  const event: Event = { type: "Warning", reason: "NotSaid", action: "Say", message: "nothing" };
  expect(events.publish(event)).toBeUndefined();
  const [line] = await until(() => (lines.length > 0 ? lines : undefined), { what: "a line", deadlineMs: 10_000 });
  expect(line).toMatchObject(event);
});

test("another process records the same event of the same hour not again, and one that was dropped is made anew", async () => {
  const event: Event = { type: "Normal", reason: unique("Said"), action: "Say", message: "once" };
  const [one, other] = [recorder(), recorder()];
  const ofReason = async () => {
    const { items } = await admin.list(eventKind, { namespace });
    return (items as readonly StoredEvent[]).filter(({ reason }) => reason === event.reason);
  };
  const untilCount = (count: number) =>
    until(async () => (await ofReason()).find(({ series }) => (series?.count ?? 1) === count), {
      what: `the event with count ${count}`,
      deadlineMs: 1e4,
    });
  one.events.publish(event);
  await untilCount(1);
  for (const _again of [1, 2, 3]) other.events.publish(event);
  one.events.publish(event);
  const { metadata } = await untilCount(2);
  expect(await ofReason()).toHaveLength(1);
  await admin.delete(eventKind, metadata);
  one.events.publish(event);
  one.events.publish(event);
  await untilCount(4);
});
