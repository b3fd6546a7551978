import { randomBytes } from "node:crypto";
import type { Express } from "express";
import type { JWTPayload } from "jose";
import supertest from "supertest";
import { createApp } from "../../../api/app.ts";
import { type ApiTokenSpec, TOKEN_VARIABLE, tokenOf, valueOwner } from "../../../crds/api-token.ts";
import type { Repository } from "../../../crds/repository/repository.ts";
import { Sensitive } from "../../../crds/sensitive.ts";
import { consoleSecrets, extensionKeyOf } from "../../../operator/adapters/platform-keys/platform-keys.ts";
import { prometheusMetrics } from "../../../operator/adapters/prometheus/metrics.ts";
import { BACKING_SERVICES } from "../../../operator/controllers/environment/backing-services/index.ts";
import { chartTemplates } from "../../../operator/controllers/environment/template.ts";
import { type Log, logTo } from "../../../operator/kit/log.ts";
import { type MemoryApiTokens, memoryApiTokens } from "../doubles/memory/api-tokens.ts";
import { type MemoryAuditTrail, memoryAuditTrail } from "../doubles/memory/audit-trail.ts";
import { type MemoryBranchHeads, memoryBranchHeads } from "../doubles/memory/branch-heads.ts";
import { type MemoryConfigSets, memoryConfigSets } from "../doubles/memory/config-sets.ts";
import { type MemoryRollups, memoryRollups } from "../doubles/memory/costs/rollups.ts";
import { type MemoryDeployerLog, memoryDeployerLog } from "../doubles/memory/deployer-log.ts";
import { type MemoryEnvironments, memoryEnvironments } from "../doubles/memory/environments.ts";
import { memoryHistory } from "../doubles/memory/history.ts";
import { type MemoryIdentityProvider, memoryIdentityProvider } from "../doubles/memory/identity-provider.ts";
import { type MemoryPlatformHealth, memoryPlatformHealth } from "../doubles/memory/platform-health.ts";
import { type MemoryPodLogs, memoryPodLogs } from "../doubles/memory/pod-logs.ts";
import { type MemoryProber, memoryProber } from "../doubles/memory/prober.ts";
import { type MemoryRecords, memoryRecords } from "../doubles/memory/records.ts";
import { aRepository, type MemoryRepositories, memoryRepositories } from "../doubles/memory/repositories.ts";
import { type MemoryRepositoryReloads, memoryRepositoryReloads } from "../doubles/memory/repository-reloads.ts";
import { type MemorySecretManager, memorySecretManager } from "../doubles/memory/secret-manager.ts";
import { type MemoryUnknownNames, memoryUnknownNames } from "../doubles/memory/unknown-names.ts";
import type { MemoryNotifications } from "../doubles/memory/webhooks/notifications.ts";
import type { MemoryRepositoryHooks } from "../doubles/memory/webhooks/repository-hooks.ts";
import type { MemoryWebhookDeliveries } from "../doubles/memory/webhooks/webhook-deliveries.ts";
import { type MemoryWorkloads, memoryWorkloads } from "../doubles/memory/workloads.ts";
import { TestClock } from "../doubles/test-clock.ts";
import { apiTokenFixture } from "../fixtures/api-token-fixture.ts";
import { memoryWebhooks, shareWebhookKeys } from "./memory-webhooks.ts";
import { type ServiceOptions, settingsFor } from "./service-settings.ts";
import { startTokenIssuer, type TokenIssuer } from "./token-issuer.ts";

export type { ServiceOptions } from "./service-settings.ts";

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** The people of the tests, by role. */
export const PEOPLE = {
  developer: { sub: "dev", email: "dev@example.test", name: "Dev", groups: ["developers", "shop"] },
  colleague: { sub: "col", email: "col@example.test", name: "Col", groups: ["developers", "shop"] },
  stranger: { sub: "out", email: "out@example.test", name: "Out", groups: ["developers", "billing"] },
  viewer: { sub: "vie", email: "vie@example.test", name: "Vie", groups: ["viewers", "shop"] },
  maintainer: { sub: "mai", email: "mai@example.test", name: "Mai", groups: ["maintainers"] },
  admin: { sub: "adm", email: "adm@example.test", name: "Adm", groups: ["admins"] },
  outsider: { sub: "outsider", email: "outsider@example.test", name: "Outsider", groups: [] },
} as const;
export type Person = keyof typeof PEOPLE;

export interface MadeToken {
  readonly id: string;
  readonly value: string;
}

/** The API on doubles: everything in front of the ports is real. */
export interface ApiService {
  readonly app: Express;
  readonly http: ReturnType<typeof supertest>;
  readonly issuer: TokenIssuer;
  readonly clock: TestClock;
  readonly audit: MemoryAuditTrail;
  readonly environments: MemoryEnvironments;
  readonly repositories: MemoryRepositories;
  readonly repositoryReloads: MemoryRepositoryReloads;
  readonly unknownNames: MemoryUnknownNames;
  readonly branchHeads: MemoryBranchHeads;
  readonly configSets: MemoryConfigSets;
  readonly apiTokens: MemoryApiTokens;
  readonly health: MemoryPlatformHealth;
  readonly secretManager: MemorySecretManager;
  readonly identityProvider: MemoryIdentityProvider;
  readonly prober: MemoryProber;
  readonly podLogs: MemoryPodLogs;
  readonly workloads: MemoryWorkloads;
  readonly deployerLog: MemoryDeployerLog;
  readonly webhookDeliveries: MemoryWebhookDeliveries;
  readonly repositoryHooks: MemoryRepositoryHooks;
  readonly notifications: MemoryNotifications;
  readonly records: MemoryRecords;
  readonly rollups: MemoryRollups;
  readonly stopping: AbortController;
  readonly log: readonly LogLine[];
  /** An API token of a person; default scope: ENV_READ. */
  makeToken(person: Person, spec?: Partial<ApiTokenSpec>): Promise<MadeToken>;
  /** An `Authorization` header's value for a person. */
  bearer(person: Person, claims?: JWTPayload): Promise<string>;
  stop(): Promise<void>;
}

export const VERSION = "1.2.3";
/** The initial time of every test. */
export const NOW = "2026-06-01T12:00:00.500Z";

/** Starts the API with its own issuer; stop it at the end. */
export async function startApiService(options: ServiceOptions = {}): Promise<ApiService> {
  const clock = new TestClock(options.now ?? NOW);
  const issuer = await startTokenIssuer(() => clock.now());
  const environments = memoryEnvironments(clock);
  const repositories = memoryRepositories(...(options.repositories ?? defaultRepositories()));
  const repositoryReloads = memoryRepositoryReloads(repositories);
  const branchHeads = memoryBranchHeads();
  const settings = settingsFor(issuer, options);
  const configSets = memoryConfigSets(...(options.configSets ?? []));
  const unknownNames = memoryUnknownNames({ repositories, configSets, clock });
  const apiTokens = memoryApiTokens(clock);
  const audit = memoryAuditTrail();
  const health = memoryPlatformHealth(clock.now());
  const secretManager = options.secretManager ?? memorySecretManager();
  shareWebhookKeys(secretManager);
  const identityProvider = memoryIdentityProvider(...Object.values(PEOPLE).map(({ email }) => email));
  const prober = memoryProber();
  const podLogs = memoryPodLogs();
  const workloads = memoryWorkloads();
  const deployerLog = memoryDeployerLog();
  const records = memoryRecords();
  const rollups = memoryRollups();
  const stopping = new AbortController();
  const lines: LogLine[] = [];
  const log = recordingLog(lines);
  const webhooks = memoryWebhooks({
    settings,
    environments,
    repositories,
    configSets,
    branchHeads,
    secretManager,
    audit,
    clock,
    log,
  });
  const app = createApp({
    settings,
    environments,
    repositories,
    repositoryReloads,
    unknownNames,
    branchHeads,
    configSets,
    chartTemplates: chartTemplates(settings, BACKING_SERVICES),
    apiTokens,
    health,
    secretManager,
    extensionKey: extensionKeyOf(secretManager),
    consoleSecrets: consoleSecrets(settings, secretManager),
    ...(options.clientsFolder !== undefined && { clientsFolder: options.clientsFolder }),
    identityProvider: options.withoutIdentityProvider ? undefined : identityProvider,
    prober,
    podLogs,
    workloads,
    deployerLog,
    ...webhooks,
    history: memoryHistory(records),
    rollups,
    metrics: prometheusMetrics(),
    clock,
    randomBytes,
    counters: options.counters,
    ...(options.tracing && { tracing: options.tracing }),
    audit,
    log,
    version: VERSION,
    stopping: stopping.signal,
  });
  return {
    app,
    issuer,
    clock,
    audit,
    environments,
    repositories,
    repositoryReloads,
    unknownNames,
    branchHeads,
    configSets,
    apiTokens,
    health,
    secretManager,
    identityProvider,
    prober,
    podLogs,
    workloads,
    deployerLog,
    webhookDeliveries: webhooks.webhookDeliveries,
    repositoryHooks: webhooks.repositoryHooks,
    notifications: webhooks.notifications,
    records,
    rollups,
    stopping,
    log: lines,
    http: supertest(app),
    makeToken: async (person, spec = {}) => {
      const { sub, email, name, groups } = PEOPLE[person];
      const value = tokenOf(randomBytes(32));
      const owner = { subject: `${issuer.issuer}#${sub}`, email, name };
      const at = new Date(Math.floor(clock.now().getTime() / 1e3) * 1e3).toISOString();
      const assertedClaims = { groups: [...groups].sort(), at };
      const fixture = apiTokenFixture(
        { owner, assertedClaims, scopes: ["ENV_READ"], keepsValue: true, ...spec },
        value,
      );
      const token = await apiTokens.create(fixture.spec);
      const kept = { name: TOKEN_VARIABLE, version: 1, generate: () => new Sensitive(value) };
      await secretManager.ensure(valueOwner(token), [kept]);
      return { id: token.metadata.name, value };
    },
    bearer: async (person, claims = {}) =>
      `Bearer ${await issuer.sign({
        ...PEOPLE[person],
        ...claims,
      })}`,
    stop: () => issuer.stop(),
  };
}

function defaultRepositories(): Repository[] {
  return [
    aRepository("shop-api", { access: { groups: ["shop", "platform"] } }),
    aRepository("shop-web", { type: "frontend", defaultBranch: "trunk", access: { groups: ["shop"] } }),
    aRepository("open-api"),
    aRepository("open-web", { type: "frontend" }),
    aRepository("billing-api", { access: { groups: ["billing"] } }),
  ];
}

export function recordingLog(lines: LogLine[]): Log {
  return logTo((level, message, facts) => lines.push({ level, message, facts }));
}
