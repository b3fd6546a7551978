import type { Settings } from "../../../../config/settings.ts";
import { findCondition } from "../../../../crds/conditions.ts";
import { MINUTE_MS } from "../../../../crds/durations.ts";
import { type EphemeralEnvironment, isReconcileRequested } from "../../../../crds/environment/ephemeral-environment.ts";
import { chartOf } from "../../../../crds/repository/repository.ts";
import type { Deployer, DesiredApplication } from "../../../ports/deployer.ts";
import type { Repositories } from "../../../ports/repositories.ts";
import { SecretManagerUnavailable } from "../../../ports/secret-manager.ts";
import {
  CredentialRefused,
  type CredentialSource,
  chartCredential,
} from "../../../repository-access/host-credentials.ts";
import { errorResult } from "../error-results.ts";
import { componentRepositories } from "../repositories.ts";
import type { Unfinished } from "../step-result.ts";

/** The settings and ports of the login. */
export interface ChartLoginDependencies extends CredentialSource {
  readonly deployer: Deployer;
  readonly repositories: Repositories;
}

/** Steps before the application. */
const BEFORE: ReadonlySet<string> = new Set([
  "NamespaceReady",
  "ConfigurationResolved",
  "IsolationReady",
  "SecretsReady",
  "SourceResolved",
]);
/** Reasons of a step that an error broke off. */
const BROKEN_OFF: ReadonlySet<string> = new Set(["Retrying", "DeployerUnavailable"]);
/** Greatest age of a login while the application is not well: perhaps because of it. */
const UNWELL_MS = 30_000;

/**
 * Confines the environment's application to its chart, and gives the deployer the login at the chart's place.
 *
 * The credential is not read in every reconcile: a login that this process gave is trusted until the next periodic one.
 * While the secret manager is away, the deployer keeps what it has; a credential that is refused is taken from it.
 *
 * @returns why there is no login, or why it may be outdated
 */
export async function ensureConfined(
  environment: EphemeralEnvironment,
  { environment: owner, chart }: DesiredApplication,
  context: ChartLoginDependencies,
): Promise<Unfinished | undefined> {
  const { deployer, settings } = context;
  const repositories = componentRepositories(environment, context.repositories);
  const { credentialsRef: ref } = chartOf(repositories, settings);
  if (ref === undefined) {
    await deployer.ensureProject(owner, chart);
    return undefined;
  }
  const source = `${ref.name}@${ref.key}`;
  const isTrusted = deployer.loginAgeMs(owner, chart, source) < trustedMs(environment, settings);
  const answer = isTrusted ? {} : await answerTo(repositories, context);
  if (answer instanceof CredentialRefused) await deployer.ensureProject(owner, chart);
  else if (answer instanceof Error) await deployer.ensureProject(owner, chart, { source, mayBeOutdated: true });
  else await deployer.ensureProject(owner, chart, { source, ...answer });
  return answer instanceof Error ? errorResult(answer) : undefined;
}

/** The credential, or why there is none now. */
async function answerTo(repositories: Parameters<typeof chartCredential>[0], source: CredentialSource) {
  try {
    const credential = await chartCredential(repositories, source);
    return credential === undefined ? {} : { credential };
  } catch (error) {
    if (error instanceof CredentialRefused || error instanceof SecretManagerUnavailable) return error;
    throw error;
  }
}

/**
 * Greatest age of a login, in milliseconds: each periodic reconcile finds it too old, and those in between do not. Where
 * an earlier step is not done, or this one was broken off, a request may have been answered without reading it.
 */
function trustedMs(environment: EphemeralEnvironment, settings: Settings): number {
  const { status } = environment;
  const open = status?.conditions?.filter((condition) => condition.status !== "True") ?? [];
  const isUnfinished = open.some(({ type, reason }) => BEFORE.has(type) || BROKEN_OFF.has(reason));
  if (isUnfinished || isReconcileRequested(environment)) return 0;
  const isWell = findCondition(status?.conditions, "ApplicationSynced")?.status === "True";
  return isWell ? (settings.reconcile.resyncMinutes * MINUTE_MS) / 2 : UNWELL_MS;
}
