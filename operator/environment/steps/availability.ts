import { findCondition } from "../../../crds/conditions.ts";
import { type EphemeralEnvironment, isReconcileRequested } from "../../../crds/environment/ephemeral-environment.ts";
import { COMPONENTS, type Component } from "../../../crds/names.ts";
import { elapsedMs } from "../../kit/time/clock.ts";
import type { ProbeResult } from "../../ports/url-prober.ts";
import { urlsOf } from "../desired/values.ts";
import { runningHash } from "../progress.ts";
import { repositoriesOf } from "../repositories.ts";
import type { Schedule } from "../schedule.ts";
import { done, type Findings, failed, type Step, type StepContext, type StepResult, waiting } from "../step.ts";

const MINUTE_MS = 60_000;

/** `ready` is earned by an answer of every URL of what is wanted, and kept by answering again every so often. */
export function availability(schedule: Schedule): Step {
  return {
    condition: "UrlsReady",
    after: ["ApplicationSynced"],
    // People use it: whatever the deployer says, its URLs are watched on.
    alwaysRun: ({ status }) => status?.readyAt !== undefined,

    async run(environment, context) {
      const urls = urlsOf(environment, context.settings);
      const findings = addresses(urls);
      // Nobody is expected to answer, and whoever wakes it has to answer anew.
      if (environment.spec.suspended) return done("Suspended", { findings: { ...findings, servingHash: "" } });
      const isWanted = isNew(environment) || isReconcileRequested(environment);
      const dueInMs = isWanted ? 0 : schedule.dueInMs(environment.metadata.uid);
      if (dueInMs > 0) return done("Answering", { findings, requeueAfterMs: dueInMs });

      const silent = await silentUrls(environment, urls, context);
      schedule.taken(environment.metadata.uid);
      if (silent.length > 0) return { ...unanswered(environment, silent, context), findings };
      return done("Answering", {
        findings: { ...findings, ...answer(environment, context) },
        requeueAfterMs: schedule.dueInMs(environment.metadata.uid),
      });
    },
  };
}

/** Whether something runs whose URLs have not answered yet, or did not when they were asked last. */
function isNew({ status }: EphemeralEnvironment): boolean {
  const answering = findCondition(status?.conditions, "UrlsReady")?.status === "True";
  return !answering || runningHash(status) !== status?.servingHash;
}

function answer({ status }: EphemeralEnvironment, { clock }: StepContext): Findings {
  const servingHash = runningHash(status);
  return {
    readyAt: status?.readyAt ?? clock.now().toISOString(),
    ...(servingHash === undefined ? {} : { servingHash }),
  };
}

function addresses(urls: { readonly [component in Component]?: string }): Findings {
  const url = urls.frontend ?? urls.backend;
  return { urls, ...(url === undefined ? {} : { url }) };
}

/** A URL that did not answer as it should. */
interface Silent {
  readonly result: ProbeResult;
  /** What is wrong, and what to do. */
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
  const asked = COMPONENTS.flatMap((component) => (urls[component] ? [probe(component, urls[component])] : []));
  return (await Promise.all(asked)).flat();
}

function sentence(component: Component, url: string, result: ProbeResult): string {
  return `${component}: ${url} is ${result.status}: ${result.message}; ${remedy(result)}`;
}

function remedy({ status, isCertificateRefused, isAddressRefused }: ProbeResult): string {
  if (isCertificateRefused)
    return "give the ingress controller a certificate for it, or the settings its authority (ingressCaFile)";
  if (isAddressRefused) return "if it is the ingress's, name it in the setting ingressAddress";
  if (status === "unhealthy") return "see its log, or correct healthPath of its Repository";
  return "see that the ingress serves this host";
}

/** The gravest first: what no URL of the environment can get over, what does not answer, what answers badly. */
function reasonFor(silent: readonly Silent[], hasAnswered: boolean): string {
  if (silent.some(({ result }) => result.isCertificateRefused)) return "CertificateInvalid";
  if (silent.every(({ result }) => result.status === "unhealthy")) return "BadStatus";
  return hasAnswered ? "UrlDown" : "NotAnswering";
}

function unanswered(environment: EphemeralEnvironment, silent: readonly Silent[], context: StepContext): StepResult {
  const { status } = environment;
  const hasAnswered = runningHash(status) === status?.servingHash;
  const reason = reasonFor(silent, hasAnswered);
  const message = silent.map((one) => one.sentence).join("; ");
  const former = findCondition(status?.conditions, "UrlsReady");
  const silentMs =
    former === undefined || former.status === "True"
      ? 0
      : elapsedMs(new Date(former.lastTransitionTime), context.clock.now());
  if (!hasAnswered) return waiting(reason, message, { requeueAfterMs: patience(silentMs) });
  const isDown = silentMs >= context.settings.reconcile.downMinutes * MINUTE_MS;
  // A failed URL is asked on: the environment heals by itself when it answers again.
  if (isDown || former?.status === "False") return { ...failed(reason, message), requeueAfterMs: 10_000 };
  return waiting(reason, message, { requeueAfterMs: 5_000 });
}

/** The first answer is awaited eagerly, then ever more calmly. */
function patience(waitedMs: number): number {
  if (waitedMs < 5_000) return 100;
  if (waitedMs < MINUTE_MS) return 1_000;
  return waitedMs < 5 * MINUTE_MS ? 2_000 : 10_000;
}
