/** The technologies that the settings choose. Their files are read once, at the start. */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Settings } from "../../config/settings.ts";
import { Sensitive } from "../../crds/sensitive.ts";
import { argocd } from "../adapters/argocd/argocd.ts";
import { jsonAuditTrail } from "../adapters/audit-log/json-audit-trail.ts";
import { googleIdentityProvider } from "../adapters/google/identity-provider.ts";
import { googleSecretManagers } from "../adapters/google/secret-managers.ts";
import { httpsUrlProber } from "../adapters/http/url-prober.ts";
import { localIdentityProvider, retryingIdentityProvider } from "../adapters/identity-provider/call.ts";
import { queriedTraffic } from "../adapters/ingress-metrics/queried-traffic.ts";
import { scrapedTraffic } from "../adapters/ingress-metrics/scraped-traffic.ts";
import { kubernetesSecretManager } from "../adapters/kubernetes/secret-manager.ts";
import { openCostMonitor } from "../adapters/opencost/cost-monitor.ts";
import { redisSharedCounters } from "../adapters/redis/shared-counters.ts";
import { incomingWebhookChat } from "../adapters/slack/incoming-webhook.ts";
import { smtpMail } from "../adapters/smtp/smtp-mail.ts";
import type { KubeClient } from "../kit/client/kube-client.ts";
import type { Log } from "../kit/log.ts";
import type { Clock } from "../kit/time/clock.ts";
import { noTracing, type Tracing } from "../kit/tracing.ts";
import type { IdentityProvider } from "../ports/api/identity-provider.ts";
import type { SharedCounters } from "../ports/api/shared-counters.ts";
import type { AuditTrail } from "../ports/audit-trail.ts";
import type { CostMonitor } from "../ports/cost-monitor.ts";
import type { DeployerTechnology } from "../ports/deployer.ts";
import type { IngressTraffic } from "../ports/ingress-traffic.ts";
import type { Chat, Mail } from "../ports/notifications.ts";
import type { SecretManagers } from "../ports/secret-manager.ts";
import type { UrlProber } from "../ports/url-prober.ts";
import { contentOf } from "./file-content.ts";

/** Deployer of the settings. */
export function deployerOf({ deployer }: Settings): DeployerTechnology {
  switch (deployer.kind) {
    case "argocd":
      return argocd(deployer);
  }
}

interface SecretManagerClients {
  /** Client for users' calls. */
  readonly client: KubeClient;
  /** Client for controllers: writes only while leading. */
  readonly leaderClient: KubeClient;
  readonly isLeading: () => boolean;
  readonly clock: Clock;
}

/** Secret manager of the settings. */
export function secretManagersOf(settings: Settings, clients: SecretManagerClients): SecretManagers {
  const { secretManager: chosen, secretsNamespace: namespace } = settings;
  const { client, leaderClient } = clients;
  switch (chosen.kind) {
    case "embedded":
      return {
        forController: kubernetesSecretManager({ client: leaderClient, namespace }),
        forApi: kubernetesSecretManager({ client, namespace }),
        circuitBreakers: () => [],
      };
    case "google":
      return googleSecretManagers(chosen, clients);
  }
}

/** The cost monitor of the settings, where they name one. */
export function costMonitorOf({ costs }: Settings): CostMonitor | undefined {
  if (costs.openCost === undefined) return undefined;
  const { url, caFile } = costs.openCost;
  return openCostMonitor({ url, ca: contentOf(caFile) });
}

/** Source of the requests to environments, where the settings name one. */
export function ingressTrafficOf({ activity: { ingress, prometheus } = {} }: Settings): IngressTraffic | undefined {
  if (ingress !== undefined) {
    const { caFile, ...metrics } = ingress;
    return scrapedTraffic({ ...metrics, ca: contentOf(caFile) });
  }
  if (prometheus === undefined) return undefined;
  const { caFile, tokenFile, ...query } = prometheus;
  const readToken =
    tokenFile === undefined ? undefined : async () => new Sensitive((await readFile(tokenFile, "utf8")).trim());
  return queriedTraffic({ ...query, ca: contentOf(caFile), readToken });
}

/** The chat of the settings, and their mail server where they name one. */
export function messagingOf({ notifications }: Settings): { readonly chat: Chat; readonly mail: Mail | undefined } {
  const { smtp } = notifications.email ?? {};
  if (smtp === undefined) return { chat: incomingWebhookChat(), mail: undefined };
  const { caFile, passwordRef: _, ...server } = smtp;
  return { chat: incomingWebhookChat(), mail: smtpMail({ ...server, ca: contentOf(caFile) }) };
}

/** Prober of environments' URLs, by the ingress of the settings. */
export function urlProberOf({ ingressAddress, ingressCaFile }: Settings, clock: Clock): UrlProber {
  return httpsUrlProber({ ingressAddress, ca: contentOf(ingressCaFile) }, clock);
}

/** A technology that runs as long as the process. */
interface Running {
  readonly clock: Clock;
  readonly log: Log;
}

/** Counters of the settings, if any. */
export function sharedCountersOf(
  { api }: Settings,
  running: Running,
): (SharedCounters & { close(): void }) | undefined {
  const { redis } = api.limits;
  if (redis === undefined) return undefined;
  const { url, username, passwordFile, caFile } = redis;
  const files = { password: contentOf(passwordFile)?.trim(), ca: contentOf(caFile) };
  return redisSharedCounters({ url, username, ...files }, running);
}

const BYTES_OF_A_MEGABYTE = 1_000_000;

/** Audit trail of the settings: standard output, and a file if named. */
export function auditTrailOf({ audit }: Settings, running: Running): AuditTrail & { close(): Promise<void> } {
  const file = audit.file && {
    path: audit.file.path,
    maxBytes: audit.file.maxMegabytes * BYTES_OF_A_MEGABYTE,
    keep: audit.file.keep,
  };
  return jsonAuditTrail({ stream: process.stdout, file, ...running });
}

/** Only what a header can carry: a client that refuses a header repeats it in its error. */
const KEY_SHAPE = /^[\w-]{1,256}$/;

/** Identity provider of the settings, if any; fails when its key file is unreadable or empty. */
export function identityProviderOf({ api }: Settings, clock: Clock): IdentityProvider | undefined {
  return api.identityProvider && retryingIdentityProvider(chosen(api.identityProvider), clock);
}

function chosen(choice: NonNullable<Settings["api"]["identityProvider"]>): IdentityProvider {
  if (choice.kind === "local") return localIdentityProvider(choice.url);
  const { kind: _, apiKeyFile, ...project } = choice;
  return googleIdentityProvider({ ...project, apiKey: keyOf(apiKeyFile) });
}

function keyOf(file: string): Sensitive {
  const key = readFileSync(file, "utf8").trim();
  if (KEY_SHAPE.test(key)) return new Sensitive(key);
  throw new Error("api.identityProvider.apiKeyFile holds no API key: letters, digits, - and _ on one line");
}

/**
 * Tracing of the settings. Without it no module of OpenTelemetry is loaded.
 *
 * @param instance unique name of this process
 * @throws Error when a headers file is invalid
 */
export async function tracingOf(
  { tracing }: Settings,
  running: Running & { readonly version: string; readonly instance: string },
): Promise<Tracing> {
  const { endpoint, sampleRatio, caFile, headersFile } = tracing;
  if (endpoint === undefined) return noTracing;
  const headers = contentOf(headersFile);
  const files = { ca: contentOf(caFile), headers: headers === undefined ? undefined : headersOf(headers) };
  const { openTelemetryTracing } = await import("../adapters/opentelemetry/tracing.ts");
  return openTelemetryTracing({ ...running, ...files, endpoint, sampleRatio });
}

/** A token of HTTP, a colon and printable ASCII: https://www.rfc-editor.org/rfc/rfc9110.html#name-fields */
const HEADER = /^([!#$%&'*+\-.^_`|~\dA-Za-z]+):[ \t]*([\x20-\x7e]+)$/;

/** Headers of a text, one per line. Errors name the line only, because the rest may be a secret. */
export function headersOf(text: string): ReadonlyMap<string, Sensitive> {
  const headers = new Map<string, Sensitive>();
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const [, name, value] = HEADER.exec(line.trim()) ?? [];
    if (name === undefined || value === undefined) {
      throw new Error(`settings.tracing.headersFile: line ${index + 1} of the file is not 'name: value'`);
    }
    headers.set(name.toLowerCase(), new Sensitive(value));
  }
  return headers;
}
