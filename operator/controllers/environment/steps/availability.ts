import { isDeepStrictEqual } from "node:util";
import type { Settings } from "../../../../config/settings.ts";
import { findCondition } from "../../../../crds/conditions.ts";
import { MINUTE_MS } from "../../../../crds/durations.ts";
import {
  componentsOf,
  type EphemeralEnvironment,
  isReconcileRequested,
} from "../../../../crds/environment/ephemeral-environment.ts";
import { runningHash } from "../../../../crds/environment/progress.ts";
import { componentUrl, furtherHostsOf } from "../../../../crds/environment/urls.ts";
import type { Component } from "../../../../crds/names.ts";
import { type Clock, elapsedMs } from "../../../kit/time/clock.ts";
import type { Repositories } from "../../../ports/repositories.ts";
import type { ProbeResult, UrlProber } from "../../../ports/url-prober.ts";
import { componentRepositories } from "../repositories.ts";
import type { Schedules } from "../schedule.ts";
import type { Step } from "../step.ts";
import { done, type Findings, failed, type Unfinished, waiting, withFindings } from "../step-result.ts";

interface AvailabilityDependencies {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly prober: UrlProber;
  readonly repositories: Repositories;
}

/** Probes the URLs: an environment is ready when all have answered, and while they answer regular probes. */
export function availability(dependencies: AvailabilityDependencies, { probes: schedule }: Schedules): Step {
  return {
    condition: "UrlsReady",
    writes: ["url", "urls", "readyAt", "servingHash"],
    after: ["ApplicationSynced"],
    // URLs in use are probed whatever the deployer says.
    alwaysRun: ({ status }) => status?.readyAt !== undefined,

    async run(environment) {
      const targets = targetsOf(environment, dependencies);
      const urls = addresses(targets);
      // No URL answers now, and all must answer again after the suspension.
      if (environment.spec.suspended) return done("Suspended", { findings: { ...urls, servingHash: "" } });
      const isRequested = isNew(environment, urls) || isReconcileRequested(environment);
      const dueInMs = isRequested ? 0 : schedule.dueInMs(environment.metadata.uid);
      if (dueInMs > 0) return done("Answering", { findings: urls, requeueAfterMs: dueInMs });

      const silent = await silentUrls(targets, dependencies.prober);
      schedule.taken(environment.metadata.uid);
      if (silent.length > 0) return withFindings(silentResult(environment, silent, dependencies), urls);
      return done("Answering", {
        findings: { ...urls, ...answered(environment, dependencies.clock) },
        requeueAfterMs: schedule.dueInMs(environment.metadata.uid),
      });
    },
  };
}

/** True when the workload has not answered at these URLs, or failed the last probe. */
function isNew({ status }: EphemeralEnvironment, { urls }: Findings): boolean {
  const isAnswering = findCondition(status?.conditions, "UrlsReady")?.status === "True";
  return !isAnswering || runningHash(status) !== status?.servingHash || !isDeepStrictEqual(urls, status?.urls);
}

function answered({ status }: EphemeralEnvironment, clock: Clock): Findings {
  const readyAt = status?.readyAt ?? clock.now().toISOString();
  const servingHash = runningHash(status);
  return servingHash === undefined ? { readyAt } : { readyAt, servingHash };
}

interface Target {
  /** Absent for a further host of the chart. */
  readonly component?: Component;
  /** Name of the component, or of the further host. */
  readonly name: string;
  readonly url: string;
  readonly healthPath: string;
}

function targetsOf(
  environment: EphemeralEnvironment,
  { settings, repositories }: AvailabilityDependencies,
): readonly Target[] {
  const granted = componentRepositories(environment, repositories);
  const ofComponents = componentsOf(environment).map((component) => {
    const healthPath = granted[component]?.spec.healthPath ?? "/";
    return { component, name: component, url: componentUrl(environment, component, settings), healthPath };
  });
  return [...ofComponents, ...furtherHostsOf(environment, granted, settings)];
}

function addresses(targets: readonly Target[]): Findings {
  const byName = (some: readonly Target[]) => Object.fromEntries(some.map(({ name, url }) => [name, url]));
  const further = targets.filter(({ component }) => component === undefined);
  const components: { readonly [component in Component]?: string } = byName(
    targets.filter(({ component }) => component !== undefined),
  );
  const urls = { ...components, ...(further.length === 0 ? {} : { hosts: byName(further) }) };
  const url = urls.frontend ?? urls.backend;
  return url === undefined ? { urls } : { urls, url };
}

interface Silent {
  readonly result: ProbeResult;
  readonly sentence: string;
}

async function silentUrls(targets: readonly Target[], prober: UrlProber): Promise<Silent[]> {
  const probe = async (target: Target) => {
    const result = await prober.probe(target.url, target.healthPath);
    return result.status === "healthy" ? [] : [{ result, sentence: sentence(target, result) }];
  };
  return (await Promise.all(targets.map(probe))).flat();
}

function sentence(target: Target, result: ProbeResult): string {
  const { component, name, url, healthPath } = target;
  const subject = component ?? `host '${name}'`;
  return `${subject}: ${url}${healthPath} is ${result.status}: ${result.message}; ${remedy(target, result)}`;
}

function remedy({ component, name }: Target, { status, isCertificateRefused, isAddressRefused }: ProbeResult): string {
  if (isCertificateRefused)
    return "give the ingress controller a valid certificate, or name its authority in the setting ingressCaFile";
  if (isAddressRefused) return "if it is the ingress's address, name it in the setting ingressAddress";
  if (component === undefined)
    return `check that the chart has an Ingress or HTTPRoute with the host \${hosts.${name}}, or correct spec.hosts of the backend's Repository`;
  if (status === "unhealthy") return "see its log, or correct healthPath of its Repository";
  return "check that the ingress serves this host";
}

/** Most severe reason: no URL can answer, some don't, some answer badly. */
function reasonFor(silent: readonly Silent[], hasAnswered: boolean): string {
  if (silent.some(({ result }) => result.isCertificateRefused)) return "CertificateInvalid";
  if (silent.every(({ result }) => result.status === "unhealthy")) return "BadStatus";
  return hasAnswered ? "UrlDown" : "NotAnswering";
}

function silentResult(
  environment: EphemeralEnvironment,
  silent: readonly Silent[],
  context: AvailabilityDependencies,
): Unfinished {
  const { status } = environment;
  const hasAnswered = runningHash(status) === status?.servingHash;
  const reason = reasonFor(silent, hasAnswered);
  const message = silent.map((one) => one.sentence).join("; ");
  const former = findCondition(status?.conditions, "UrlsReady");
  const silentMs =
    former === undefined || former.status === "True"
      ? 0
      : elapsedMs(new Date(former.lastTransitionTime), context.clock.now());
  if (!hasAnswered) return waiting(reason, message, { requeueAfterMs: firstProbeMs(silentMs) });
  const isDown = silentMs >= context.settings.reconcile.downMinutes * MINUTE_MS;
  // Probes go on, so the environment recovers by itself.
  if (isDown || former?.status === "False") return failed(reason, message, { requeueAfterMs: 10_000 });
  return waiting(reason, message, { requeueAfterMs: 5_000 });
}

/** Interval of probes before the first answer: short, then growing. */
function firstProbeMs(waitedMs: number): number {
  if (waitedMs < 5_000) return 100;
  if (waitedMs < MINUTE_MS) return 1_000;
  return waitedMs < 5 * MINUTE_MS ? 2_000 : 10_000;
}
