import type {
  CommitReport,
  DeploymentReport,
  HostedRepository,
  PullRequestHost,
} from "../../../../../operator/ports/webhooks/pull-request-host.ts";

/** What a host has of one repository. */
export interface Remembered {
  /** The statuses of its commits, in the order in which they came. */
  readonly reports: CommitReport[];
  /** Its comments by their ids. */
  readonly comments: Map<number, string>;
  /** Its deployments by the host's environment: the last that was reported. */
  readonly deployments: Map<string, DeploymentReport>;
}

/** The PullRequestHost port on hosts that remember each repository, and find a comment by its id or its marker. */
export function rememberingHost(): PullRequestHost & { of(fullName: string): Remembered } {
  const repositories = new Map<string, Remembered>();
  let ids = 0;
  const of = (fullName: string): Remembered => {
    const known = repositories.get(fullName) ?? { reports: [], comments: new Map(), deployments: new Map() };
    repositories.set(fullName, known);
    return known;
  };
  return {
    of,
    async report({ fullName }: HostedRepository, report) {
      of(fullName).reports.push(report);
    },
    async comment({ fullName }, { id, marker, text, mayCreate }) {
      const { comments } = of(fullName);
      const marked = [...comments].find(([, one]) => one.startsWith(marker))?.[0];
      const known = id !== undefined && comments.has(id) ? id : marked;
      if (known === undefined && !mayCreate) return undefined;
      ids += 1;
      comments.set(known ?? ids, `${marker}\n${text}`);
      return known ?? ids;
    },
    async deploy({ fullName }, report) {
      of(fullName).deployments.set(report.environment, report);
    },
    async retire({ fullName }, environment) {
      of(fullName).deployments.delete(environment);
    },
  };
}
