/** The status of a pull request whose rules want no environment: docs/adr/0283-success-where-no-environment-is-wanted.md. */
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { UNWANTED_ANNOTATION } from "../../../crds/group.ts";
import { CREATE_ACTIONS } from "../../../crds/repository/webhook-rules.schema.ts";
import type { RuleVerdict } from "../../../crds/webhooks/webhook-delivery.ts";
import { unwantedReport } from "../../host-reports/report.ts";
import { hostedRepository, wantsOf } from "../../host-reports/subject.ts";
import { contextOf } from "../../host-reports/wanted.ts";
import type { Decided } from "../decision.ts";
import type { PullRequestFacts } from "./facts.ts";

/** The rules by which a Repository says which pull requests it wants environments of. */
const WISHES: readonly string[] = ["skip_draft", "required_labels", "branch_pattern", "base_pattern"];
/** While one of these is broken, the Repository or the settings take part in no pull request. */
const TAKES_PART: readonly string[] = ["enabled", "allowed_organizations", "allowed_repositories"];

/**
 * The decision to report a success where a rule of the Repository wants no environment; `undefined` where it asks for no such status,
 * where the settings have no token of the host, and where an environment is wanted and something else is in its way: an approval,
 * room, a user's deletion.
 *
 * @param trace the verdicts of all rules for a creation
 */
export function unwantedStatus(facts: PullRequestFacts, trace: readonly RuleVerdict[]): Decided | undefined {
  const { repository, state, context } = facts;
  const rule = wantsOf(repository).successWithoutEnvironment ? unwantedBy(facts, trace) : undefined;
  const hosted = hostedRepository(repository, context.settings);
  if (rule === undefined || hosted === undefined) return undefined;
  const told = { ...unwantedReport(rule), commit: state.headCommit };
  const report = { ...told, context: contextOf({ name: repository.metadata.name }) };
  return { decision: { do: "report", repository: hosted, report, reason: "Unwanted" }, trace };
}

/** What the rule that wants no environment says; `undefined` where none does. */
function unwantedBy({ rules, state, action }: PullRequestFacts, trace: readonly RuleVerdict[]): string | undefined {
  const broken = trace.filter(({ passed }) => !passed);
  if (broken.some(({ rule }) => TAKES_PART.includes(rule))) return undefined;
  const isDeniedFork = state.isFork && rules.forks !== "approve";
  const unwished = broken.find(({ rule }) => WISHES.includes(rule) || (rule === "forks" && isDeniedFork));
  if (unwished !== undefined) return unwished.message;
  // An action that says nothing, such as a new title, changes no wish.
  const isChoice = broken.length === 1 && CREATE_ACTIONS.some((one) => one === action);
  return broken.find(({ rule }) => isChoice && rule === "create_on")?.message;
}

/** What a deletion notes on the environment, so that its end is reported as a success; see `conclude`. */
export function unwantedAnnotation({ repository }: PullRequestFacts, rule: string): Record<string, string> {
  return wantsOf(repository).successWithoutEnvironment ? { [UNWANTED_ANNOTATION]: rule } : {};
}

/** What takes the note away from an environment whose deletion was not carried out. */
export function wantedAgain({ metadata }: EphemeralEnvironment): Record<string, null> {
  return metadata.annotations?.[UNWANTED_ANNOTATION] === undefined ? {} : { [UNWANTED_ANNOTATION]: null };
}
