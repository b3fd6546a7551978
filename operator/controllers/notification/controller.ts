import { digestOf } from "../../../crds/digest.ts";
import type { Controller } from "../../kit/controller/controller.ts";
import type { Caches } from "../../ports/caches.ts";
import { deliverMessages, type NotificationDependencies } from "./reconcile.ts";
import { createSender, type MessageSenderDependencies } from "./sender.ts";
import { enqueueOnMessages, waitingDestinations } from "./watches.ts";

/** The controller that sends messages. Its keys are destinations: the messages of one are sent one after the other. */
export function notificationController(
  dependencies: NotificationDependencies & MessageSenderDependencies & { readonly caches: Caches },
): Controller {
  const { caches } = dependencies;
  return {
    name: "notifications",
    reconcile: deliverMessages(dependencies, createSender(dependencies)),
    // The address of an e-mail is personal.
    loggedKey: (destination) => digestOf(destination),
    watches: [(enqueue) => enqueueOnMessages(caches, enqueue)],
    initialKeys: () => waitingDestinations(caches),
    workers: 8,
  };
}
