import type { Settings } from "../../config/settings.ts";
import type { HostKind } from "../../config/webhooks.schema.ts";
import { gitea } from "../adapters/gitea/host-technology.ts";
import { github } from "../adapters/github/host-technology.ts";
import { gitlab } from "../adapters/gitlab/host-technology.ts";
import { hostApi, hostTokens } from "../adapters/host-api/host-api.ts";
import type { HostCallCounter } from "../adapters/host-api/host-calls.ts";
import { neutralWebhookFormat } from "../adapters/neutral/webhook-format.ts";
import { hostCallSpans } from "../adapters/opentelemetry/call-spans.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { Tracing } from "../kit/tracing.ts";
import type { HostTechnology } from "../ports/host-technology.ts";
import type { RepositoryFiles, RepositoryHost } from "../ports/repository-host.ts";
import type { SecretReader } from "../ports/secret-manager.ts";
import {
  type HostedRepository,
  type PullRequestHost,
  PullRequestHostFailed,
  type PullRequestReader,
} from "../ports/webhooks/pull-request-host.ts";
import type { RepositoryHooks } from "../ports/webhooks/repository-hooks.ts";
import type { WebhookFormats } from "../webhooks/senders.ts";
import { contentOf } from "./file-content.ts";

/** The kinds of hosts that settings may name. */
export const HOST_TECHNOLOGIES: Readonly<Record<HostKind, HostTechnology>> = { github, gitea, gitlab };

/** The formats of webhooks: that of each kind of host, and the REST contract's. */
export const WEBHOOK_FORMATS: WebhookFormats = { ...HOST_TECHNOLOGIES, neutral: { format: neutralWebhookFormat } };

interface Context {
  readonly secretManager: SecretReader;
  readonly clock: Clock;
  readonly calls: { of(host: string): HostCallCounter };
  readonly tracing: Tracing;
}

/**
 * The ports to the hosts that the settings have a token of: each call goes to the host of its repository, and throws
 * PullRequestHostFailed for a host without a token.
 */
interface HostApis {
  readonly pullRequestHost: PullRequestHost;
  readonly pullRequestReader: PullRequestReader;
  readonly hooks: RepositoryHooks;
  close(): Promise<void>;
}

/** Connections to the hosts of repositories; their owner closes them. */
export interface Hosts {
  readonly repositoryHost: RepositoryHost & RepositoryFiles;
  readonly apis: HostApis;
}

/** Connections to the hosts of the settings. The files of their authorities are read once. */
export function hostApis({ hosts }: Settings, { secretManager, clock, calls, tracing }: Context): HostApis {
  const tokens = hostTokens(secretManager);
  const connected = hosts.flatMap((host) => {
    const { id, kind, token, caFile } = host;
    if (token === undefined) return [];
    const technology = HOST_TECHNOLOGIES[kind];
    const ca = contentOf(caFile);
    const connection = hostApi({ host, technology, ca, clock, token: () => tokens(token), calls: calls.of(id) });
    const api = hostCallSpans(tracing, id, connection);
    const [reporter, reader, hooks] = [technology.reporter(api), technology.reader(api, clock), technology.hooks(api)];
    return [{ id, api, ports: { reporter, reader, hooks } }];
  });
  const portsById = new Map(connected.map(({ id, ports }) => [id, ports]));
  const of = ({ host }: HostedRepository) => {
    const found = portsById.get(host);
    if (found === undefined) throw new PullRequestHostFailed(`the settings have no token of host '${host}'`);
    return found;
  };
  return {
    pullRequestHost: {
      report: async (repository, ...rest) => of(repository).reporter.report(repository, ...rest),
      comment: async (repository, ...rest) => of(repository).reporter.comment(repository, ...rest),
      deploy: async (repository, ...rest) => of(repository).reporter.deploy(repository, ...rest),
      retire: async (repository, ...rest) => of(repository).reporter.retire(repository, ...rest),
    },
    pullRequestReader: {
      openPullRequests: async (repository, ...rest) => of(repository).reader.openPullRequests(repository, ...rest),
      pullRequest: async (repository, ...rest) => of(repository).reader.pullRequest(repository, ...rest),
      redeliver: async (repository, ...rest) => of(repository).reader.redeliver(repository, ...rest),
    },
    hooks: {
      list: async (repository, ...rest) => of(repository).hooks.list(repository, ...rest),
      lastDelivery: async (repository, ...rest) => of(repository).hooks.lastDelivery(repository, ...rest),
      put: async (repository, ...rest) => of(repository).hooks.put(repository, ...rest),
      resume: async (repository, ...rest) => of(repository).hooks.resume(repository, ...rest),
      neededRight: (repository) => of(repository).hooks.neededRight(repository),
    },
    async close() {
      await Promise.all(connected.map(({ api }) => api.close()));
    },
  };
}
