import { settingsFrom } from "../../../config/settings.ts";
import type { ConfigSet } from "../../../crds/config-set.ts";
import type { Repository } from "../../../crds/repository/repository.ts";
import type { Tracing } from "../../../operator/kit/tracing.ts";
import type { SharedCounters } from "../../../operator/ports/api/shared-counters.ts";
import type { MemorySecretManager } from "../doubles/memory/secret-manager.ts";
import { hookSettings, webhookKeySettings } from "./memory-webhooks.ts";
import { AUDIENCE, type TokenIssuer } from "./token-issuer.ts";

const ROLES = { viewer: ["viewers"], developer: ["developers"], maintainer: ["maintainers"], admin: ["admins"] };

const generous = {
  authenticatedPerMinute: 100_000,
  unauthenticatedPerMinute: 100_000,
  documentationPerMinute: 100_000,
  pagesPerMinute: 100_000,
  webhooksPerMinute: 100_000,
  webhooksPerProjectPerMinute: 100_000,
  refusedWebhooksPerMinute: 100_000,
  passwordResetsPerHour: 100_000,
};

/** Overrides by a test. */
export interface ServiceOptions {
  readonly limits?: Partial<typeof generous> & { readonly ownerPerMinute?: number };
  readonly repositories?: readonly Repository[];
  readonly configSets?: readonly ConfigSet[];
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly api?: Readonly<Record<string, unknown>>;
  /** Added to the service's own issuer. */
  readonly issuer?: Readonly<Record<string, unknown>>;
  readonly issuers?: readonly Readonly<Record<string, unknown>>[];
  readonly counters?: SharedCounters;
  readonly tracing?: Tracing;
  /** The initial time of the clock; by default that of every test. */
  readonly now?: string;
  /** Shared with another replica. */
  readonly secretManager?: MemorySecretManager;
  /** The folder of the built console and command line. */
  readonly clientsFolder?: string;
  readonly withoutIdentityProvider?: boolean;
}

/** The settings of the API on doubles: generous limits, and its own issuer. */
export function settingsFor(issuer: TokenIssuer, { limits, settings, api, ...options }: ServiceOptions) {
  return settingsFrom({
    baseDomain: "env.example.test",
    publicPort: 18443,
    webhooks: webhookKeySettings,
    ...hookSettings,
    defaultChart: { repoUrl: "https://git.example.test/charts.git", path: "environment", revision: "main" },
    ...settings,
    api: {
      issuers: [
        { issuer: issuer.issuer, audience: AUDIENCE, roles: ROLES, ...options.issuer },
        ...(options.issuers ?? []),
      ],
      limits: { ...generous, ...limits },
      ...api,
    },
  });
}
