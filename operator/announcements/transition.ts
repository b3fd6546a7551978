import type { Component } from "../../crds/names.ts";
import type { Announced } from "../../crds/notifications/announced.schema.ts";
import type { MessageEvent } from "../../crds/notifications/notification.ts";

/** A change that was not announced yet. */
export interface Transition {
  /** `undefined`: nothing is told of it. */
  readonly event?: MessageEvent;
  /** Tells this change from every other one: part of the name of its messages. */
  readonly about: readonly string[];
  /** The component that it is about. */
  readonly component?: Component;
  /** What is announced when it is. */
  readonly announced: Announced;
}

/** What changes are found by, beside the environment. */
export interface TransitionContext {
  readonly now: Date;
  /** The hours before an expiry at which the owner is warned; none where no e-mail can be sent. */
  readonly warningHours: readonly number[];
}
