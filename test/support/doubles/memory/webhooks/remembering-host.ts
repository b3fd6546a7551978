import type {
  CommitReport,
  DeploymentReport,
  HostedPullRequest,
  HostedRepository,
  PullRequestHost,
  PullRequestReader,
} from "../../../../../operator/ports/webhooks/pull-request-host.ts";
import type { RepositoryHook, RepositoryHooks } from "../../../../../operator/ports/webhooks/repository-hooks.ts";

/** A host's data of one repository. */
export interface Remembered {
  /** Statuses of commits, in the order of arrival. */
  readonly reports: CommitReport[];
  /** Comments by id. */
  readonly comments: Map<number, string>;
  readonly deployments: Map<string, DeploymentReport>;
  /** Pull requests by number. */
  readonly pulls: Map<number, HostedPullRequest>;
  readonly hooks: RepositoryHook[];
  /** Number of lists of the open pull requests. */
  listed: number;
}

/** The ports of hosts, on a host that remembers each repository. It keeps no log of deliveries, as Gitea. */
export interface RememberingHost {
  readonly reported: PullRequestHost;
  readonly reader: PullRequestReader;
  readonly hooks: RepositoryHooks;
  /** Memory of a repository by its full name. */
  of(fullName: string): Remembered;
}

export function rememberingHost(): RememberingHost {
  const repositories = new Map<string, Remembered>();
  const lists = { reports: [], comments: new Map(), deployments: new Map(), pulls: new Map(), hooks: [], listed: 0 };
  const of = (fullName: string): Remembered => {
    const known = repositories.get(fullName) ?? structuredClone(lists);
    repositories.set(fullName, known);
    return known;
  };
  return { of, reported: reportedHost(of), reader: readableHost(of), hooks: hookingHost(of) };
}

type Of = RememberingHost["of"];

function reportedHost(of: Of): PullRequestHost {
  let ids = 0;
  return {
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

function readableHost(of: Of): PullRequestReader {
  return {
    async openPullRequests({ fullName }) {
      const repository = of(fullName);
      repository.listed += 1;
      return [...repository.pulls.values()].filter(({ state }) => state === "open");
    },
    pullRequest: async ({ fullName }, number) => of(fullName).pulls.get(number),
    redeliver: async () => undefined,
  };
}

function hookingHost(of: Of): RepositoryHooks {
  return {
    list: async ({ fullName }) => [...of(fullName).hooks],
    lastDelivery: async () => undefined,
    neededRight: () => "the right to write hooks",
    async put({ fullName }, { address }) {
      const { hooks } = of(fullName);
      const others = hooks.filter(({ url }) => url !== address);
      hooks.splice(0, hooks.length, ...others, activeHook(address));
    },
    async resume({ fullName }, id) {
      const { hooks } = of(fullName);
      hooks.splice(0, hooks.length, ...hooks.map((hook) => (hook.id === id ? activeHook(hook.url) : hook)));
    },
  };
}

/** An active hook of an address for all events. */
export const activeHook = (url: string): RepositoryHook => ({
  id: url,
  url,
  events: ["*"],
  state: "active",
  faults: [],
});
