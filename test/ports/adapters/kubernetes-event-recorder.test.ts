import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { kubernetesEventRecorder } from "../../../operator/adapters/kubernetes/event-recorder.ts";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import { eventKind } from "../../../operator/kit/client/kinds.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import { type Facts, type Log, silentLog } from "../../../operator/kit/log.ts";
import type { Event } from "../../../operator/ports/event-recorder.ts";
import { TestClock } from "../../support/doubles/test-clock.ts";
import { unique } from "../../support/faults/people.ts";
import { until } from "../../support/fixtures/until.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { kubeConfigOf } from "../../support/plane/kube-config.ts";
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

eventRecorderSuite("on Kubernetes", async () => {
  const clock = new TestClock();
  // Events can be told apart by whom they are about; it need not exist.
  const serviceAccount = unique("platform-");
  const eventsOfIt = async () => {
    const { items } = await admin.list(eventKind, { namespace });
    return items.filter(({ involvedObject }) => (involvedObject as { name?: string }).name === serviceAccount);
  };
  return {
    ...{ clock, events: kubernetesEventRecorder({ client, namespace, serviceAccount, clock, log: silentLog }) },
    async told(reason) {
      const notices = (await eventsOfIt()).map(
        ({ type, reason: of, message }) => ({ type, reason: of, message }) as Event,
      );
      return notices.filter((notice) => notice.reason === reason);
    },
    async stop() {
      for (const { metadata } of await eventsOfIt()) await admin.delete(eventKind, metadata);
    },
  };
});

test("a events that can't be written is in the log, and nothing else comes of it", async () => {
  const lines: (Facts | undefined)[] = [];
  const log: Log = { ...silentLog, warn: (_message, facts) => void lines.push(facts) };
  const nowhere = { client, namespace: unique("absent-"), serviceAccount: "platform", clock: new TestClock(), log };
  const notice: Event = { type: "Warning", reason: "NotSaid", message: "nothing" };
  expect(kubernetesEventRecorder(nowhere).publish(notice)).toBeUndefined();
  const [line] = await until(() => (lines.length > 0 ? lines : undefined), { what: "a line", deadlineMs: 10_000 });
  expect(line).toMatchObject(notice);
});
