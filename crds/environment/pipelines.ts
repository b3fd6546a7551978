type Pipeline = Readonly<Record<"project" | "workflow" | "commit" | "status" | "at", string>> & {
  readonly id: number;
  readonly attempt?: number;
};

/** A rule for a pipeline's next report, as CEL for the API server and as code. */
export interface PipelineRule {
  /** CEL over `self` and `oldSelf`. */
  readonly cel: string;
  readonly holds: (next: Pipeline, former: Pipeline) => boolean;
  readonly message: string;
}

const isSame = (next: Pipeline, former: Pipeline) => next.project === former.project && next.id === former.id;
const CEL_IS_OTHER = "self.project != oldSelf.project || self.id != oldSelf.id";

/**
 * Rules over two runs of one workflow. Reports are duplicated and reordered; an outdated one must not replace a newer
 * one.
 */
export const PIPELINE_RULES: readonly PipelineRule[] = [
  {
    cel: "self.project != oldSelf.project || self.id >= oldSelf.id",
    holds: (next, former) => next.project !== former.project || next.id >= former.id,
    message: "a newer pipeline of this project is recorded already",
  },
  {
    cel: `${CEL_IS_OTHER} || !has(self.attempt) || !has(oldSelf.attempt) || self.attempt >= oldSelf.attempt`,
    holds: (next, former) => !isSame(next, former) || (next.attempt ?? Infinity) >= (former.attempt ?? 0),
    message: "a later attempt of this pipeline is recorded already",
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

/** Limit of the workflows of one commit. */
export const MOST_PIPELINES = 50;

/** Rules over the list: it is of one commit, and loses no pipeline until another commit's come. */
export const PIPELINES_RULES = [
  {
    cel: "self.all(one, one.commit == self[0].commit)",
    message: "the pipelines are those of one commit",
  },
  {
    cel:
      "(size(self) > 0 && size(oldSelf) > 0 && self[0].commit != oldSelf[0].commit)" +
      " || oldSelf.all(former, self.exists(next, next.workflow == former.workflow))",
    message: "a recorded pipeline can't be removed: an older one could take its place",
  },
] as const;

/**
 * Rule over a component's source: its pipelines are of one commit; those of the desired commit must not be replaced.
 */
export const DESIRED_COMMIT_RULE = {
  cel:
    "!has(oldSelf.pipelines) || !has(self.pipelines) || !has(self.commit) ||" +
    " oldSelf.pipelines.all(former, former.status == 'success' || former.commit != self.commit" +
    " || self.pipelines.all(next, next.commit == self.commit))",
  holds: (next: Pipeline, former: readonly Pipeline[], desired: string | undefined) =>
    next.commit === desired || former.every(({ commit, status }) => status === "success" || commit !== desired),
  message: "the pipeline of the commit that is wanted has not succeeded: another commit's can't take its place",
} as const;

/**
 * Adds a report to a commit's pipelines: the newest run of each workflow counts, and another commit's go.
 *
 * @param desired the commit of the component's source after the report; `undefined` when it names none
 * @returns `undefined` when the report may not replace the recorded one
 */
export function withPipeline<P extends Pipeline>(
  former: readonly P[],
  next: P,
  desired: string | undefined,
): readonly P[] | undefined {
  const own = former.find(({ workflow }) => workflow === next.workflow);
  const isNewer = own === undefined || PIPELINE_RULES.every(({ holds }) => holds(next, own));
  if (!isNewer || !DESIRED_COMMIT_RULE.holds(next, former, desired)) return undefined;
  const others = former.filter(({ workflow, commit }) => workflow !== next.workflow && commit === next.commit);
  return [...others, next];
}

/** Adds all permitted reports one after the other; see `withPipeline`. */
export function withPipelines<P extends Pipeline>(
  former: readonly P[],
  reports: readonly P[],
  desired: string | undefined,
): readonly P[] {
  return reports.reduce((recorded, next) => withPipeline(recorded, next, desired) ?? recorded, former);
}

/** Name of a pipeline in messages. */
export function pipelineName({ id, project, workflow }: Pipeline): string {
  return `pipeline ${id} of ${project}${workflow === "" ? "" : ` (${workflow})`}`;
}

/** One failure ends a build, whatever the others do; all must succeed. */
const DECIDING = ["failed", "canceled", "running"];

/** Pipeline that decides on a commit's build; of several alike the oldest, of successes the newest. */
export function decidingPipeline<P extends Pipeline>(pipelines: readonly P[]): P | undefined {
  const byAge = pipelines.toSorted((one, other) => one.id - other.id);
  const first = DECIDING.map((status) => byAge.find((one) => one.status === status)).find(Boolean);
  return first ?? byAge.at(-1);
}

const SILENT_AFTER_MS = 2 * 3_600_000;

/** Moment from which a pipeline's commit may be deployed: its end, or too long without a report. */
export function pipelineEnd({ status, at }: Pipeline): Date {
  return new Date(Date.parse(at) + (status === "running" ? SILENT_AFTER_MS : 0));
}

/** State of a commit by its pipeline; `silent`: no end was reported. */
export type Build = "building" | "silent" | "failed" | "built";

export function buildOf(pipeline: Pipeline, now: Date): Build {
  if (pipeline.status === "success") return "built";
  if (pipeline.status !== "running") return "failed";
  return now < pipelineEnd(pipeline) ? "building" : "silent";
}
