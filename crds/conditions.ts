import { CONDITION_MESSAGE_MAX_LENGTH, type Condition } from "./schema.ts";

export type { Condition } from "./schema.ts";

/** Conditions of the steps to a ready environment and of backing services; `Ready` summarises them. */
export type StepCondition =
  | "NamespaceReady"
  | "ConfigurationResolved"
  | "IsolationReady"
  | "SecretsReady"
  | "SourceResolved"
  | "DatabaseReady"
  | "ApplicationSynced"
  | "UrlsReady";
/**
 * Informational conditions: present while they hold, absent otherwise. True, except `ResourcesHealthy`, which is False
 * while something that carries no traffic is unhealthy.
 */
export const INFORMATIONAL_CONDITIONS = [
  "Suspended",
  "Asleep",
  "ActivityUnknown",
  "PipelineSilent",
  "SourceGone",
  "ResourcesHealthy",
  "ExpiryRefused",
] as const;
export type InformationalCondition = (typeof INFORMATIONAL_CONDITIONS)[number];
/**
 * Every type of a condition. Of Repositories: `WebhookActive` (its webhooks arrive), `NameCurrent` (its host uses the
 * registered name).
 */
export type ConditionType = StepCondition | InformationalCondition | "Ready" | "WebhookActive" | "NameCurrent";

/** Condition of a type; `undefined` when there is none yet. */
export function findCondition(
  conditions: readonly Condition[] | undefined,
  type: ConditionType,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Conditions with this one in place of its type's former one. */
export function withCondition(conditions: readonly Condition[] = [], condition: Condition): Condition[] {
  return [...conditions.filter(({ type }) => type !== condition.type), condition];
}

/** A condition before its `lastTransitionTime` is known. */
export type ConditionDraft = Omit<Condition, "lastTransitionTime">;

/** Cuts a message to its field's length: the API server refuses a whole status that breaks its schema. */
export function clipped(message: string, maxLength: number = CONDITION_MESSAGE_MAX_LENGTH): string {
  return message.length <= maxLength ? message : `${message.slice(0, maxLength - 1)}…`;
}

/** Completes a condition with its `lastTransitionTime`: the former one while `status` is unchanged, else now. */
export function transition(former: Condition | undefined, draft: ConditionDraft, now: Date): Condition {
  const isUnchanged = former?.status === draft.status;
  return { ...draft, lastTransitionTime: isUnchanged ? former.lastTransitionTime : now.toISOString() };
}
