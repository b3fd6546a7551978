import { DEFAULT_PIPELINE_EVENTS, type PipelineRules } from "../../../crds/repository/webhook-rules.schema.ts";
import type { PipelineState } from "../../../crds/webhooks/webhook-event.schema.ts";

/** A rule of the Repository that a run does not meet. */
export interface CountedProblem {
  readonly rule: "events" | "workflows";
  /** A sentence for people. */
  readonly message: string;
}

/** The rules in the order of their evaluation. */
export const COUNTED_RULES = ["events", "workflows"] as const satisfies readonly CountedProblem["rule"][];

/**
 * The reason why a run says nothing of its commit's build; `undefined` when it counts. A comment, an issue or a timetable
 * runs workflows of a commit as well, and says nothing of it.
 *
 * @param run one without an event is of a sender that names none, and counts as one of every event
 * @param rules `spec.pipeline` of the Repository
 */
export function countedProblem(
  { event, workflow, name }: Pick<PipelineState, "event" | "workflow" | "name">,
  { events = [...DEFAULT_PIPELINE_EVENTS], workflows }: PipelineRules = {},
): CountedProblem | undefined {
  if (event !== undefined && !events.some((counted) => counted === event)) {
    return { rule: "events", message: `runs of the event '${event}' do not count: spec.pipeline.events lists others` };
  }
  if (workflows === undefined || workflows.some((named) => named === name || isSameFile(named, workflow)))
    return undefined;
  const unnamed = workflow ?? name;
  const subject = unnamed === undefined ? "runs without a workflow's name" : `runs of '${unnamed}'`;
  return { rule: "workflows", message: `${subject} do not count: spec.pipeline.workflows lists others` };
}

/** Gitea reports the file without its folder, and people write either. */
function isSameFile(named: string, workflow: string | undefined): boolean {
  if (workflow === undefined || named === workflow) return workflow !== undefined;
  const hasFolders = named.includes("/") && workflow.includes("/");
  return !hasFolders && fileOf(named) === fileOf(workflow);
}

const fileOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
