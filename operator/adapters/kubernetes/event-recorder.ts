import { hash } from "node:crypto";
import { isAlreadyExists } from "../../kit/client/errors.ts";
import { eventKind } from "../../kit/client/kinds.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import type { Log } from "../../kit/log.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { Event, EventRecorder } from "../../ports/event-recorder.ts";

interface Context {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** The API server drops Events after an hour. */
const HOUR_MS = 3_600_000;
/** What an Event's message may have (https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/). */
const MESSAGE_MAX_LENGTH = 1024;

/** The EventRecorder port: Events in the platform's own namespace, about the platform's own ServiceAccount. */
export function kubernetesEventRecorder(context: Context): EventRecorder {
  const { client, log } = context;
  return {
    publish(event) {
      client.create(eventKind, eventObject(event, context)).catch((error: unknown) => {
        if (!isAlreadyExists(error)) log.warn("an event could not be written", { ...event, error });
      });
    },
  };
}

/** Named by its content and the hour, so that a second leader, or a second reconcile, records it once. */
function eventObject({ type, reason, message }: Event, { namespace, serviceAccount, clock }: Context) {
  const at = clock.now();
  const hour = Math.floor(at.getTime() / HOUR_MS);
  const id = hash("sha256", JSON.stringify([reason, message, hour])).slice(0, 16);
  const words = message.length <= MESSAGE_MAX_LENGTH ? message : `${message.slice(0, MESSAGE_MAX_LENGTH - 1)}…`;
  return {
    metadata: { name: `${serviceAccount}.${id}`, namespace },
    involvedObject: { apiVersion: "v1", kind: "ServiceAccount", name: serviceAccount, namespace },
    type,
    reason,
    message: words,
    count: 1,
    firstTimestamp: at.toISOString(),
    lastTimestamp: at.toISOString(),
    source: { component: "ephemeral-environments" },
  };
}
