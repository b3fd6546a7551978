import { digestOf } from "../digest.ts";
import { API_VERSION, GROUP, type Kind, VERSION } from "../group.ts";
import type { NotificationSpec, NotificationStatus } from "./notification.schema.ts";

export type {
  Channel,
  Fact,
  Facts,
  MessageEvent,
  NotificationPhase,
  NotificationSpec,
  NotificationStatus,
} from "./notification.schema.ts";

/** One message to one channel, and its delivery. Only the operator writes it. */
export interface Notification {
  readonly apiVersion: typeof API_VERSION;
  readonly kind: "Notification";
  readonly metadata: {
    /** See `notificationName`: the API server is the lock on a message. */
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec: NotificationSpec;
  /** Absent before the first attempt: then it is pending. */
  readonly status?: NotificationStatus;
}

export const notificationKind = {
  group: GROUP,
  version: VERSION,
  kind: "Notification",
  plural: "notifications",
  namespaced: true,
} as const satisfies Kind;

/**
 * Name of a message: a hash of its subject and destination, so that it is made once.
 *
 * @param about the transition, such as the environment's UID, the event and the moment of the change
 */
export function notificationName(about: readonly string[], { channel, to }: Pick<NotificationSpec, "channel" | "to">) {
  return digestOf([...about, channel, to]);
}

/** Manifest of a message. */
export function notificationManifest(name: string, spec: NotificationSpec, namespace: string) {
  return { apiVersion: API_VERSION, kind: "Notification", metadata: { name, namespace }, spec } as const;
}

/** True until the message is sent or given up. */
export function isUnsent({ status }: Pick<Notification, "status">): boolean {
  return status === undefined || status.phase === "pending";
}

/** Destination of a message; messages with the same one are sent one after the other. */
export const destinationOf = ({ spec }: Notification): string => `${spec.channel}/${spec.to}`;
