import { clipped, findCondition } from "../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { shownPhase } from "../../crds/environment/phase.ts";
import type { ReportedState } from "../ports/webhooks/pull-request-host.ts";

/** The state of an environment as its host is told. */
export interface Report {
  readonly state: ReportedState;
  /** One line. */
  readonly description: string;
  /** Why it failed, in full. */
  readonly reason?: string;
  readonly url?: string;
}

/** GitHub's limit, https://docs.github.com/en/rest/commits/statuses; descriptions of deployments have the same. */
const DESCRIPTION_MAX_LENGTH = 140;

/** What is true of the wanted commit: what the status says of a former spec is not. */
export function reportOf(environment: EphemeralEnvironment): Report {
  const { metadata, status } = environment;
  const phase = status?.observedGeneration === metadata.generation ? shownPhase(environment) : "updating";
  if (phase === "ready") {
    const description = environment.spec.suspended ? "The environment is suspended" : "The environment is ready";
    return { state: "success", description, ...(status?.url === undefined ? {} : { url: status.url }) };
  }
  if (phase !== "failed") return { state: "pending", description: "The environment is being prepared" };
  const { reason = "", message = "" } = findCondition(status?.conditions, "Ready") ?? {};
  const why = oneLine(`${reason}: ${message}`);
  return { state: "failure", description: clipped(`Failed: ${why}`, DESCRIPTION_MAX_LENGTH), reason: why };
}

/** The last report: a pull request must not wait for an environment that is gone. */
export function lastReport(told: ReportedState): Report {
  const description = "The environment is gone";
  return { state: told === "pending" ? "failure" : told, description };
}

/** The report of a commit that a rule lets have no environment. @param rule why, for people */
export function unwantedReport(rule: string): Report {
  const description = clipped(`No environment is wanted: ${oneLine(rule)}`, DESCRIPTION_MAX_LENGTH);
  return { state: "success", description };
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, " ").trim();
