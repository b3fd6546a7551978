import { CONDITION_MESSAGE_MAX_LENGTH, type Condition } from "./schema.ts";

export type { Condition } from "./schema.ts";

/** The steps to a ready environment, in the order in which they are taken; `Ready` sums them up. */
export const STEP_CONDITIONS = [
  "NamespaceReady",
  "ConfigurationResolved",
  "IsolationReady",
  "SecretsReady",
  "SourceResolved",
  "DatabaseReady",
  "ApplicationSynced",
  "UrlsReady",
] as const;
export type StepCondition = (typeof STEP_CONDITIONS)[number];
/** What users should know although no step failed: present (True) while it is so, absent else. */
export const INFORMATIONAL_CONDITIONS = ["Suspended", "PipelineSilent", "ExpiryRefused"] as const;
export type InformationalCondition = (typeof INFORMATIONAL_CONDITIONS)[number];
export type ConditionType = StepCondition | InformationalCondition | "Ready";

/** The condition of a type; `undefined` while it was never judged. */
export function findCondition(
  conditions: readonly Condition[] | undefined,
  type: ConditionType,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** A judgement of now, before it is compared with the one before. */
export type ConditionDraft = Omit<Condition, "lastTransitionTime">;

/** Cuts a message to what a condition holds: a status that breaks its schema would be refused as a whole. */
export function clipped(message: string, maxLength: number = CONDITION_MESSAGE_MAX_LENGTH): string {
  return message.length <= maxLength ? message : `${message.slice(0, maxLength - 1)}…`;
}

/** Adds the moment of the last change of `status`: the former one while the status stays what it was. */
export function transition(former: Condition | undefined, judgement: ConditionDraft, now: Date): Condition {
  const unchanged = former?.status === judgement.status;
  return { ...judgement, lastTransitionTime: unchanged ? former.lastTransitionTime : now.toISOString() };
}
