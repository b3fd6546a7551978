import { type ConditionDraft, type ConditionType, clipped } from "../../../crds/conditions.ts";
import type { Examination, HookProblem } from "../../ports/facade/hook-doctor.ts";

/** The condition that tells whether webhooks of a Repository arrive. */
export const WEBHOOK_ACTIVE = "WebhookActive" satisfies ConditionType;

/** What can't be found out without them is unknown. */
const UNKNOWN: readonly HookProblem["reason"][] = [
  "HostUnknown",
  "TokenMissing",
  "AddressUnknown",
  "KeyUnreadable",
  "HostUnavailable",
  "HostRefused",
];
/** Events arrive nevertheless. */
const HARMLESS: readonly HookProblem["reason"][] = ["HookRepeated"];

/** The condition of what was found, before its generation is known: what is surely wrong counts before what is unknown. */
export function conditionOf({ problems }: Examination): Omit<ConditionDraft, "observedGeneration"> {
  const grave = problems.filter(({ reason }) => !HARMLESS.includes(reason));
  const problem = grave.find(({ reason }) => !UNKNOWN.includes(reason)) ?? grave[0];
  if (problem === undefined) return { type: WEBHOOK_ACTIVE, status: "True", reason: "HookActive", message: "" };
  const { reason, message, remedy } = problem;
  const status = UNKNOWN.includes(reason) ? "Unknown" : "False";
  return { type: WEBHOOK_ACTIVE, status, reason, message: clipped(`${message}: ${remedy}`) };
}
