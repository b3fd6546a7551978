import { readFileSync } from "node:fs";
import NodeCache from "node-cache";
import type { Settings } from "../../config/settings.ts";
import type { HostKind } from "../../config/webhooks.schema.ts";
import type { SecretRef } from "../../crds/environment/overrides.schema.ts";
import type { Sensitive } from "../../crds/sensitive.ts";
import { giteaPullRequestHost } from "../adapters/gitea/pull-request-host.ts";
import { giteaPullRequestReader } from "../adapters/gitea/pull-request-reader.ts";
import { githubPullRequestHost } from "../adapters/github/pull-request-host.ts";
import { githubPullRequestReader } from "../adapters/github/pull-request-reader.ts";
import { gitlabPullRequestHost } from "../adapters/gitlab/pull-request-host.ts";
import { gitlabPullRequestReader } from "../adapters/gitlab/pull-request-reader.ts";
import { type HostApi, hostApi } from "../adapters/host-api/host-api.ts";
import type { Clock } from "../kit/time/clock.ts";
import { type SecretManager, textOf } from "../ports/secret-manager.ts";
import {
  type HostedRepository,
  type PullRequestHost,
  PullRequestHostFailed,
} from "../ports/webhooks/pull-request-host.ts";
import type { PullRequestReader } from "../ports/webhooks/pull-request-reader.ts";

/** One host, told and asked. */
type Adapter = PullRequestHost & PullRequestReader;

const ADAPTERS: Readonly<Record<HostKind, (api: HostApi, clock: Clock) => Adapter>> = {
  github: (api, clock) => ({ ...githubPullRequestHost(api.request), ...githubPullRequestReader(api, clock) }),
  gitea: (api, clock) => ({ ...giteaPullRequestHost(api.request), ...giteaPullRequestReader(api, clock) }),
  gitlab: (api, clock) => ({ ...gitlabPullRequestHost(api.request), ...gitlabPullRequestReader(api, clock) }),
};

interface Context {
  readonly secretManager: Pick<SecretManager, "read">;
  readonly clock: Clock;
}

/** A replaced token is used after this time. */
const TOKEN_CACHED_SECONDS = 60;

/** The PullRequestHost and the PullRequestReader port: each call goes to the host of its repository. */
export function pullRequestHosts(
  { hosts }: Pick<Settings, "hosts">,
  { secretManager, clock }: Context,
): Adapter & { close(): Promise<void> } {
  const tokens = createTokens(secretManager);
  const apis: HostApi[] = [];
  const byId = new Map<string, Adapter>();
  for (const host of hosts) {
    const { token } = host;
    if (token === undefined) continue;
    const ca = host.caFile === undefined ? undefined : readFileSync(host.caFile, "utf8");
    const api = hostApi({ host, ca, clock, token: () => tokens(token) });
    apis.push(api);
    byId.set(host.id, ADAPTERS[host.kind](api, clock));
  }
  const of = ({ host }: HostedRepository): Adapter => {
    const found = byId.get(host);
    if (found === undefined) throw new PullRequestHostFailed(`the settings have no token of host '${host}'`);
    return found;
  };
  return {
    report: async (repository, ...rest) => of(repository).report(repository, ...rest),
    comment: async (repository, ...rest) => of(repository).comment(repository, ...rest),
    deploy: async (repository, ...rest) => of(repository).deploy(repository, ...rest),
    retire: async (repository, ...rest) => of(repository).retire(repository, ...rest),
    openPullRequests: async (repository, ...rest) => of(repository).openPullRequests(repository, ...rest),
    pullRequest: async (repository, ...rest) => of(repository).pullRequest(repository, ...rest),
    redeliver: async (repository, ...rest) => of(repository).redeliver(repository, ...rest),
    close: async () => {
      await Promise.all(apis.map((api) => api.close()));
    },
  };
}

function createTokens(secretManager: Pick<SecretManager, "read">) {
  const known = new NodeCache({ stdTTL: TOKEN_CACHED_SECONDS, useClones: false });
  return async (ref: SecretRef): Promise<Sensitive> => {
    const id = `${ref.name}@${ref.key}`;
    const cached = known.get<Sensitive>(id);
    if (cached !== undefined) return cached;
    const token = await textOf(ref, secretManager);
    if (token === undefined) throw new PullRequestHostFailed(`the secret manager has no '${id}': create it`);
    known.set(id, token);
    return token;
  };
}
