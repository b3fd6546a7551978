import NodeCache from "node-cache";
import type { Settings } from "../../../config/settings.ts";
import type { HostKind } from "../../../config/webhooks.schema.ts";
import type { SecretRef } from "../../../crds/environment/overrides.schema.ts";
import type { Sensitive } from "../../../crds/sensitive.ts";
import { type HostApi, type HostRequest, hostApi } from "../../adapters/host-api/host-api.ts";
import type { HostCallCounter } from "../../adapters/host-api/host-calls.ts";
import { contentOf } from "../../kit/content-of.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { Tracing } from "../../kit/tracing.ts";
import type { RepositoryHost } from "../../ports/repository-host.ts";
import { type SecretManager, textOf } from "../../ports/secret-manager.ts";
import { type HostedRepository, PullRequestHostFailed } from "../../ports/webhooks/pull-request-host.ts";
import { hostCallSpans } from "../observation/call-spans.ts";

interface Context {
  readonly secretManager: Pick<SecretManager, "read">;
  readonly clock: Clock;
  readonly calls: { of(host: string): HostCallCounter };
  readonly tracing: Tracing;
}

/** Time until a replaced token is used. */
const TOKEN_CACHED_SECONDS = 60;

/** APIs of hosts with a token in the settings. */
export interface HostApis {
  /**
   * Client for a repository's host, by the adapter of its kind.
   *
   * @returns a function that throws PullRequestHostFailed for hosts without a token
   */
  by<T>(
    adapters: Readonly<Record<HostKind, (request: HostRequest, api: HostApi) => T>>,
  ): (repository: HostedRepository) => T;
  close(): Promise<void>;
}

/** Connections to repository hosts; their owner closes them. */
export interface Hosts {
  readonly repositoryHost: RepositoryHost;
  readonly apis: HostApis;
}

/** Connections to the settings' hosts. CA files are read once. */
export function hostApis(
  { hosts }: Pick<Settings, "hosts">,
  { secretManager, clock, calls, tracing }: Context,
): HostApis {
  const tokens = createTokens(secretManager);
  const apis = hosts.flatMap((host): readonly (HostApi & { readonly id: string; readonly kind: HostKind })[] => {
    const { id, kind, token, caFile } = host;
    if (token === undefined) return [];
    const ca = contentOf(caFile);
    const api = hostApi({ host, ca, clock, token: () => tokens(token), calls: calls.of(id) });
    return [{ id, kind, ...hostCallSpans(tracing, id, api) }];
  });
  return {
    by(adapters) {
      const byId = new Map(apis.map(({ id, kind, ...api }) => [id, adapters[kind](api.request, api)]));
      return ({ host }) => {
        const found = byId.get(host);
        if (found === undefined) throw new PullRequestHostFailed(`the settings have no token of host '${host}'`);
        return found;
      };
    },
    async close() {
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
    const token = await textOf(ref, secretManager).catch((cause: Error) => {
      throw new PullRequestHostFailed(`the host's token can't be read: ${cause.message}`, { cause });
    });
    if (token === undefined) throw new PullRequestHostFailed(`the secret manager has no '${id}': create it`);
    known.set(id, token);
    return token;
  };
}
