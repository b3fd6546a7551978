import type { Component } from "../../crds/names.ts";
import type { Announced } from "../../crds/notifications/announced.schema.ts";
import type { MessageEvent } from "../../crds/notifications/notification.ts";

/** An unannounced change. */
export interface Transition {
  readonly event?: MessageEvent;
  /** Identity of the change: part of its messages' names. */
  readonly about: readonly string[];
  readonly component?: Component;
  readonly announced: Announced;
}

/** Further input for finding changes. */
export interface TransitionContext {
  readonly now: Date;
  /** Hours before an expiry at which the owner is warned; none without e-mail. */
  readonly warningHours: readonly number[];
}
