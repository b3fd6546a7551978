import { type ConditionDraft, type ConditionType, clipped } from "../../../crds/conditions.ts";
import type { HookCheck, HookProblem } from "../../ports/facade/webhook-registrar.ts";

/** Condition about the arrival of a Repository's webhooks. */
export const WEBHOOK_ACTIVE = "WebhookActive" satisfies ConditionType;

/** Reasons that leave the state unknown. */
const UNKNOWN: readonly HookProblem["reason"][] = [
  "HostUnknown",
  "TokenMissing",
  "AddressUnknown",
  "KeyUnreadable",
  "HostUnavailable",
  "HostRefused",
];
/** Reasons despite which events arrive. */
const HARMLESS: readonly HookProblem["reason"][] = ["HookRepeated"];

/** Condition of a check, without its generation: certain problems before unknown states. */
export function conditionOf({ problems }: HookCheck): Omit<ConditionDraft, "observedGeneration"> {
  const grave = problems.filter(({ reason }) => !HARMLESS.includes(reason));
  const problem = grave.find(({ reason }) => !UNKNOWN.includes(reason)) ?? grave[0];
  if (problem === undefined) return { type: WEBHOOK_ACTIVE, status: "True", reason: "HookActive", message: "" };
  const { reason, message, remedy } = problem;
  const status = UNKNOWN.includes(reason) ? "Unknown" : "False";
  return { type: WEBHOOK_ACTIVE, status, reason, message: clipped(`${message}: ${remedy}`) };
}
