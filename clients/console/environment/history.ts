import type { EnvironmentReport, WebhookDelivery } from "../../sdk/index.ts";
import { conditionName } from "./steps.ts";

/** A past event of an environment. */
export interface Happening {
  readonly key: string;
  /** ISO 8601. */
  readonly at: string;
  readonly what: string;
  /** Person or reason. */
  readonly note: string;
  /** The webhook delivery behind it. */
  readonly delivery?: string;
}

const STATES = { True: "done", False: "not done", Unknown: "waiting" } as const;

/** Known events of an environment, the newest first: its creation, its conditions, and the webhooks that touched it. */
export function historyOf(
  environment: EnvironmentReport,
  deliveries: readonly WebhookDelivery[],
): readonly Happening[] {
  const { created_at, creator, conditions, name } = environment;
  const made = {
    key: "made",
    at: created_at,
    what: "Created",
    note: `by ${creator.name || creator.email || "unknown"}`,
  };
  const changed = conditions.map(({ type, status, reason, message, last_transition_time: at }) => ({
    key: type,
    at,
    note: status === "True" ? "" : message || reason,
    what: `${conditionName(type)}: ${STATES[status]}`,
  }));
  const received = deliveries.flatMap(({ id, received_at: at, environments, event_name, message }) =>
    environments
      .filter((one) => one.name === name)
      .map(({ action }) => ({
        key: id,
        at,
        what: `${event_name} of its repository: ${action}`,
        note: message,
        delivery: id,
      })),
  );
  return [made, ...changed, ...received].toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at));
}
