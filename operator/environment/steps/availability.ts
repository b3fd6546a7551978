import { findCondition } from "../../../crds/conditions.ts";
import { type EphemeralEnvironment, isReconcileRequested } from "../../../crds/environment/ephemeral-environment.ts";
import { COMPONENTS, type Component } from "../../../crds/names.ts";
import { elapsedMs } from "../../kit/time/clock.ts";
import type { ProbeResult } from "../../ports/url-prober.ts";
import { urlsOf } from "../desired/values.ts";
import { runningHash } from "../progress.ts";
import { repositoriesOf } from "../repositories.ts";
import type { Schedule } from "../schedule.ts";
import type { Step, StepContext } from "../step.ts";
import { done, type Findings, failed, type Unfinished, waiting, withFindings } from "../step-result.ts";

type Field = "url" | "urls" | "readyAt" | "servingHash";

const MINUTE_MS = 60_000;

/** An environment is ready when every URL has answered, and stays ready while they answer regular probes. */
export function availability(schedule: Schedule): Step<Field> {
  return {
    condition: "UrlsReady",
    writes: ["url", "urls", "readyAt", "servingHash"],
    after: ["ApplicationSynced"],
    // The URLs of an environment in use are probed whatever the deployer says.
    alwaysRun: ({ status }) => status?.readyAt !== undefined,

    async run(environment, context) {
      const urls = urlsOf(environment, context.settings);
      const found = addresses(urls);
      // Nothing answers now, and everything has to answer again after the suspension.
      if (environment.spec.suspended) return done("Suspended", { findings: { ...found, servingHash: "" } });
      const isWanted = isNew(environment) || isReconcileRequested(environment);
      const dueInMs = isWanted ? 0 : schedule.dueInMs(environment.metadata.uid);
      if (dueInMs > 0) return done("Answering", { findings: found, requeueAfterMs: dueInMs });

      const silent = await silentUrls(environment, urls, context);
      schedule.taken(environment.metadata.uid);
      if (silent.length > 0) return withFindings(silentResult(environment, silent, context), found);
      return done("Answering", {
        findings: { ...found, ...answered(environment, context) },
        requeueAfterMs: schedule.dueInMs(environment.metadata.uid),
      });
    },
  };
}

/** Whether what runs has not answered yet, or did not answer the last probe. */
function isNew({ status }: EphemeralEnvironment): boolean {
  const isAnswering = findCondition(status?.conditions, "UrlsReady")?.status === "True";
  return !isAnswering || runningHash(status) !== status?.servingHash;
}

function answered({ status }: EphemeralEnvironment, { clock }: StepContext): Findings<"readyAt" | "servingHash"> {
  const readyAt = status?.readyAt ?? clock.now().toISOString();
  const servingHash = runningHash(status);
  return servingHash === undefined ? { readyAt } : { readyAt, servingHash };
}

function addresses(urls: { readonly [component in Component]?: string }): Findings<"url" | "urls"> {
  const url = urls.frontend ?? urls.backend;
  return url === undefined ? { urls } : { urls, url };
}

/** A URL that did not answer, or badly. */
interface Silent {
  readonly result: ProbeResult;
  /** For users: what is wrong and what to do. */
  readonly sentence: string;
}

async function silentUrls(
  environment: EphemeralEnvironment,
  urls: { readonly [component in Component]?: string },
  { prober, repositories }: StepContext,
): Promise<Silent[]> {
  const known = repositoriesOf(environment, repositories);
  const probe = async (component: Component, url: string) => {
    const path = known[component]?.spec.healthPath ?? "/";
    const result = await prober.probe(url, path);
    return result.status === "healthy" ? [] : [{ result, sentence: sentence(component, url + path, result) }];
  };
  const probes = COMPONENTS.flatMap((component) => (urls[component] ? [probe(component, urls[component])] : []));
  return (await Promise.all(probes)).flat();
}

function sentence(component: Component, url: string, result: ProbeResult): string {
  return `${component}: ${url} is ${result.status}: ${result.message}; ${remedy(result)}`;
}

function remedy({ status, isCertificateRefused, isAddressRefused }: ProbeResult): string {
  if (isCertificateRefused)
    return "give the ingress controller a valid certificate, or name its authority in the setting ingressCaFile";
  if (isAddressRefused) return "if it is the ingress's address, name it in the setting ingressAddress";
  if (status === "unhealthy") return "see its log, or correct healthPath of its Repository";
  return "check that the ingress serves this host";
}

/** The most severe one: no URL can answer, some don't answer, some answer badly. */
function reasonFor(silent: readonly Silent[], hasAnswered: boolean): string {
  if (silent.some(({ result }) => result.isCertificateRefused)) return "CertificateInvalid";
  if (silent.every(({ result }) => result.status === "unhealthy")) return "BadStatus";
  return hasAnswered ? "UrlDown" : "NotAnswering";
}

function silentResult(environment: EphemeralEnvironment, silent: readonly Silent[], context: StepContext): Unfinished {
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
  // The probes go on, so the environment recovers by itself.
  if (isDown || former?.status === "False") return failed(reason, message, { requeueAfterMs: 10_000 });
  return waiting(reason, message, { requeueAfterMs: 5_000 });
}

/** When to probe again before the first answer: very soon at first, then less and less often. */
function firstProbeMs(waitedMs: number): number {
  if (waitedMs < 5_000) return 100;
  if (waitedMs < MINUTE_MS) return 1_000;
  return waitedMs < 5 * MINUTE_MS ? 2_000 : 10_000;
}
