import type { Settings } from "../../config/settings.ts";
import { INFORMATIONAL_CONDITIONS } from "../../crds/conditions.ts";
import { type EphemeralEnvironment, hasDatabase, shownCommit } from "../../crds/environment/ephemeral-environment.ts";
import { expiresAt, isProtected, ttlHours } from "../../crds/environment/lifetime.ts";
import { managedBy } from "../../crds/environment/managed-by.ts";
import { shownPhase } from "../../crds/environment/phase.ts";
import { componentUrl } from "../../crds/environment/urls.ts";
import { type Component, namespaceName } from "../../crds/names.ts";
import { present } from "../../crds/present.ts";
import { toEnvironmentCost } from "../costs/environment-cost.ts";
import { toSleepReport } from "../schemas/sleep.ts";
import type { Services } from "../services.ts";
import type {
  CreatedEnvironment,
  EnvironmentDetail,
  EnvironmentLifetime,
  EnvironmentReport,
  ListedEnvironment,
  ListedReport,
} from "./schemas.ts";

/** Settings in the URLs of environments. */
export type UrlSettings = Pick<Settings, "baseDomain" | "publicPort">;

/** Environment in the reply of its creation. */
export function toCreated(environment: EphemeralEnvironment, settings: UrlSettings): CreatedEnvironment {
  return { ...toIdentity(environment, settings), ttl_hours: ttlHours(environment) };
}

/** Environment in a list. */
export function toListed(environment: EphemeralEnvironment, settings: UrlSettings): ListedEnvironment {
  return { ...toIdentity(environment, settings), creator: toCreator(environment) };
}

/** Environment in a list, in version 2. */
export function toListedReport(environment: EphemeralEnvironment, settings: UrlSettings): ListedReport {
  const { suspended = false } = environment.spec;
  return {
    ...toListed(environment, settings),
    urls: toReportedUrls(environment, settings),
    ...toProtection(environment),
    suspended,
    sleep: toSleepReport(environment.status?.sleep),
    repositories: toSources(environment),
    progress: toProgress(environment),
  };
}

/** Lifetime in the reply of an extension. */
export function toLifetime(environment: EphemeralEnvironment): EnvironmentLifetime {
  return {
    id: environment.metadata.uid,
    expires_at: expiresAt(environment).toISOString(),
    ttl_hours: ttlHours(environment),
  };
}

/** Environment with all fields of version 1. */
export function toDetail(environment: EphemeralEnvironment, settings: UrlSettings): EnvironmentDetail {
  const { metadata, spec, status } = environment;
  const ownName = namespaceName(metadata.name);
  return {
    ...toIdentity(environment, settings),
    updated_at: updatedAt(environment),
    ttl_hours: ttlHours(environment),
    creator: toCreator(environment),
    repositories: toSources(environment),
    cluster: { namespace: status?.namespace ?? ownName, deployer_app: status?.deployerApp ?? ownName },
    configuration: {
      config_set: spec.configSet?.name ?? "",
      database_provisioned: hasDatabase(environment),
      auto_generated_secrets: spec.secrets?.autoGenerate ?? true,
    },
  };
}

/** Environment in version 2. */
export function toEnvironmentReport(
  environment: EphemeralEnvironment,
  { settings, cost }: { readonly settings: UrlSettings; readonly cost: EnvironmentReport["cost"] },
): EnvironmentReport {
  const { metadata, spec, status } = environment;
  const conditions = (status?.conditions ?? []).map(({ type, status: state, reason, message, lastTransitionTime }) => ({
    type,
    status: state,
    reason,
    message,
    last_transition_time: timestamp(lastTransitionTime),
  }));
  const { suspended = false } = spec;
  const database = status?.database?.made ? status.database : undefined;
  return {
    ...toDetail(environment, settings),
    urls: toReportedUrls(environment, settings),
    ...toProtection(environment),
    suspended,
    database_seed: database?.seed ?? null,
    database_from: database?.from?.environment ?? null,
    sleep: toSleepReport(environment.status?.sleep),
    managed_by: managedBy(environment) ?? null,
    observed: status?.observedGeneration === metadata.generation,
    conditions,
    cost,
  };
}

function toProtection(environment: EphemeralEnvironment) {
  const { protected: isEndless, protectedUntil } = environment.spec;
  const until = isEndless || protectedUntil === undefined ? null : timestamp(protectedUntil);
  return { protected: isProtected(environment), protected_until: until };
}

function toIdentity(environment: EphemeralEnvironment, settings: UrlSettings) {
  const { metadata } = environment;
  return {
    id: metadata.uid,
    name: metadata.name,
    status: shownPhase(environment),
    urls: toUrls(environment, settings),
    created_at: timestamp(metadata.creationTimestamp),
    expires_at: expiresAt(environment).toISOString(),
  };
}

function toUrls(environment: EphemeralEnvironment, settings: UrlSettings) {
  return {
    backend: urlOf(environment, "backend", settings),
    ...(environment.spec.frontend === undefined ? {} : { frontend: urlOf(environment, "frontend", settings) }),
  };
}

function toReportedUrls(environment: EphemeralEnvironment, settings: UrlSettings): ListedReport["urls"] {
  const { hosts } = environment.status?.urls ?? {};
  return { ...toUrls(environment, settings), ...present({ hosts }) };
}

/** URL of a component; it follows from the name, before the operator has written it. */
export function urlOf({ metadata, status }: EphemeralEnvironment, component: Component, settings: UrlSettings): string {
  return status?.urls?.[component] ?? componentUrl({ metadata }, component, settings);
}

/** Creator, for people; without an owner the host's unauthenticated login. */
function toCreator({ spec }: EphemeralEnvironment) {
  if (spec.owner !== undefined) return { email: spec.owner.email, name: spec.owner.name };
  return { email: "", name: spec.trigger?.login ?? "manifest" };
}

function toSources(environment: EphemeralEnvironment) {
  return {
    backend: toSource(environment, "backend"),
    ...(environment.spec.frontend === undefined ? {} : { frontend: toSource(environment, "frontend") }),
  };
}

function toProgress({ status }: EphemeralEnvironment): ListedReport["progress"] {
  const steps = (status?.conditions ?? []).filter(({ type }) => type !== "Ready" && !INFORMATIONAL.has(type));
  const open = steps.filter(({ status: state }) => state !== "True");
  return { done: steps.length - open.length, total: steps.length, waiting_for: open[0]?.type ?? null };
}

const INFORMATIONAL: ReadonlySet<string> = new Set(INFORMATIONAL_CONDITIONS);

function toSource(environment: EphemeralEnvironment, component: Component) {
  const { repository = "", branch = "" } = environment.spec[component] ?? {};
  return { repo: repository, branch, commit: shownCommit(environment, component) };
}

function updatedAt({ metadata, status }: EphemeralEnvironment): string {
  const transitions = (status?.conditions ?? []).map(({ lastTransitionTime }) => lastTransitionTime);
  const moments = [metadata.creationTimestamp, status?.specChangedAt ?? metadata.creationTimestamp, ...transitions];
  return new Date(Math.max(...moments.map((moment) => Date.parse(moment)))).toISOString();
}

const timestamp = (kubernetesTime: string) => new Date(kubernetesTime).toISOString();

/** Environment in version 2, with its cost until now. */
export function reported(environment: EphemeralEnvironment, services: Services): EnvironmentReport {
  return toEnvironmentReport(environment, {
    settings: services.settings,
    cost: toEnvironmentCost(environment, services),
  });
}
