import {
  type CommitReport,
  type DeploymentReport,
  type PullRequestHost,
  PullRequestHostFailed,
  type StickyComment,
} from "../../../../../operator/ports/webhooks/pull-request-host.ts";

/** A PullRequestHost in memory, which records its calls. */
export function memoryPullRequestHost() {
  const reports: CommitReport[] = [];
  const comments: StickyComment[] = [];
  const deployments: DeploymentReport[] = [];
  const retired: string[] = [];
  let away = false;
  const reached = () => {
    if (away) throw new PullRequestHostFailed("the host is away");
  };
  const host: PullRequestHost = {
    async report(_repository, report) {
      reached();
      reports.push(report);
    },
    async comment(_repository, comment) {
      reached();
      if (comment.id === undefined && !comment.mayCreate) return undefined;
      comments.push(comment);
      return comment.id ?? 5;
    },
    async deploy(_repository, report) {
      reached();
      deployments.push(report);
    },
    async retire(_repository, environment) {
      reached();
      retired.push(environment);
    },
  };
  return {
    host,
    reports,
    comments,
    deployments,
    retired,
    setReachable: (isReachable: boolean) => {
      away = !isReachable;
    },
  };
}
