import { clipped, findCondition } from "../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { shownPhase } from "../../crds/environment/phase.ts";
import type { ReportedState } from "../ports/webhooks/pull-request-host.ts";

/** Reported state of an environment. */
export interface Report {
  readonly state: ReportedState;
  /** One line. */
  readonly description: string;
  readonly reason?: string;
  readonly url?: string;
}

/** GitHub's limit, https://docs.github.com/en/rest/commits/statuses; descriptions of deployments have the same. */
const DESCRIPTION_MAX_LENGTH = 140;

/** Report about the desired commit: a status of a former spec does not count. */
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

/** Final report: a pull request must not wait for an environment that is gone. */
export function lastReport(reported: ReportedState): Report {
  const description = "The environment is gone";
  return { state: reported === "pending" ? "failure" : reported, description };
}

/** Report for a commit without an environment by a rule. @param rule reason, for people */
export function unwantedReport(rule: string): Report {
  const description = clipped(`No environment is wanted: ${oneLine(rule)}`, DESCRIPTION_MAX_LENGTH);
  return { state: "success", description };
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, " ").trim();
