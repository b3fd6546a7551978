import type { Controller } from "../kit/controller/controller.ts";
import { activityController } from "./activity/controller.ts";
import { canaryController } from "./canary/controller.ts";
import { configSetVersionController } from "./config-set-versions/controller.ts";
import { costAllocationController } from "./cost-allocation/controller.ts";
import { environmentController } from "./environment/controller.ts";
import { garbageCollectionController } from "./garbage-collection/controller.ts";
import { missedWebhookController } from "./missed-webhooks/controller.ts";
import { notificationController } from "./notification/controller.ts";
import { pullRequestFeedbackController } from "./pull-request-feedback/controller.ts";
import { pullRequestRecheckController } from "./pull-request-recheck/controller.ts";
import { repositoryController } from "./repository/controller.ts";
import { webhookDeliveryController } from "./webhook-delivery/controller.ts";
import { webhookRegistrationController } from "./webhook-registration/controller.ts";

/** The controllers of the operator, in the order in which they start. */
const CONTROLLERS = [
  environmentController,
  repositoryController,
  webhookDeliveryController,
  pullRequestRecheckController,
  missedWebhookController,
  pullRequestFeedbackController,
  webhookRegistrationController,
  configSetVersionController,
  notificationController,
  canaryController,
  costAllocationController,
  activityController,
  garbageCollectionController,
] as const;

/** The dependencies of all controllers: exactly those that they name. */
export type ControllerDependencies = (typeof CONTROLLERS)[number] extends (dependencies: infer D) => Controller
  ? D
  : never;

/** Makes the controllers of the operator, in the order in which they start. */
export function controllers(dependencies: ControllerDependencies): readonly Controller[] {
  return CONTROLLERS.map((create) => create(dependencies));
}
