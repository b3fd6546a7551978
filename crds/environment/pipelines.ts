/** The fields of a reported pipeline that the rules compare. */
type Pipeline = Readonly<Record<"project" | "commit" | "status" | "at", string>> & { readonly id: number };

/** A rule for a pipeline's report after the former one, as CEL for the API server and as code. */
export interface PipelineRule {
  /** Over `self` and `oldSelf`. */
  readonly cel: string;
  readonly holds: (next: Pipeline, former: Pipeline) => boolean;
  readonly message: string;
}

const isSame = (next: Pipeline, former: Pipeline) => next.project === former.project && next.id === former.id;
const CEL_IS_OTHER = "self.project != oldSelf.project || self.id != oldSelf.id";

/** Reports are duplicated and reordered; an outdated one must not replace a newer one. */
export const PIPELINE_RULES: readonly PipelineRule[] = [
  {
    cel: "self.project != oldSelf.project || self.id >= oldSelf.id",
    holds: (next, former) => next.project !== former.project || next.id >= former.id,
    message: "a newer pipeline of this project is recorded already",
  },
  {
    cel: `${CEL_IS_OTHER} || self.commit == oldSelf.commit`,
    holds: (next, former) => !isSame(next, former) || next.commit === former.commit,
    message: "a pipeline builds one commit, and never another",
  },
  {
    cel: `${CEL_IS_OTHER} || oldSelf.status != 'success' || self.status == 'success'`,
    holds: (next, former) => !isSame(next, former) || former.status !== "success" || next.status === "success",
    message: "the success of a pipeline is final; failed and canceled may be followed by running",
  },
];

/** The same for a component's source: it holds one pipeline, and that of the wanted commit must not be replaced. */
export const WANTED_PIPELINE_RULE = {
  cel:
    "!has(oldSelf.pipeline) || !has(self.pipeline) || !has(self.commit) || oldSelf.pipeline.status == 'success'" +
    " || oldSelf.pipeline.commit != self.commit || self.pipeline.commit == self.commit",
  holds: (next: Pipeline, former: Pipeline, wanted: string | undefined) =>
    former.status === "success" || former.commit !== wanted || next.commit === wanted,
  message: "the pipeline of the commit that is wanted has not succeeded: another commit's can't take its place",
} as const;

/**
 * Whether a report may replace the one that is recorded.
 *
 * @param wanted the commit that the component's source names after the report; `undefined` when it names none
 */
export function mayFollow(next: Pipeline, former: Pipeline | undefined, wanted: string | undefined): boolean {
  if (former === undefined) return true;
  return PIPELINE_RULES.every(({ holds }) => holds(next, former)) && WANTED_PIPELINE_RULE.holds(next, former, wanted);
}

/** How long a running pipeline may report nothing. */
const SILENT_AFTER_MS = 2 * 3_600_000;

/** When a pipeline's commit may be deployed: at its end, or when it has reported nothing for too long. */
export function pipelineEnd({ status, at }: Pipeline): Date {
  return new Date(Date.parse(at) + (status === "running" ? SILENT_AFTER_MS : 0));
}

/** The state of a commit by its pipeline; `silent`: the end of the pipeline was not reported. */
export type Build = "building" | "silent" | "failed" | "built";

export function buildOf(pipeline: Pipeline, now: Date): Build {
  if (pipeline.status === "success") return "built";
  if (pipeline.status !== "running") return "failed";
  return now < pipelineEnd(pipeline) ? "building" : "silent";
}
