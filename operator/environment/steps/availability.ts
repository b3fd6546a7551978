import { findCondition } from "../../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../../crds/ephemeral-environment.ts";
import { COMPONENTS, type Component } from "../../../crds/names.ts";
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
    persists: ({ status }) => status?.readyAt !== undefined,

    async run(environment, context) {
      const urls = urlsOf(environment, context.settings);
      const findings = addresses(urls);
      // Nobody is expected to answer, and whoever wakes it has to answer anew.
      if (environment.spec.suspended) return done("Suspended", { findings: { ...findings, answered: "" } });
      const dueInMs = isNew(environment) ? 0 : schedule.dueInMs(environment.metadata.uid);
      if (dueInMs > 0) return done("Answering", { findings, recheckAfterMs: dueInMs });

      const silent = await silentUrls(environment, urls, context);
      schedule.taken(environment.metadata.uid);
      if (silent.length > 0) return { ...unanswered(environment, silent, context), findings };
      return done("Answering", {
        findings: { ...findings, ...answer(environment, context) },
        recheckAfterMs: schedule.dueInMs(environment.metadata.uid),
      });
    },
  };
}

/** Whether something runs whose URLs have not answered yet, or did not when they were asked last. */
function isNew({ status }: EphemeralEnvironment): boolean {
  const answering = findCondition(status?.conditions, "UrlsReady")?.status === "True";
  return !answering || runningHash(status) !== status?.answered;
}

function answer({ status }: EphemeralEnvironment, { clock }: StepContext): Findings {
  const answered = runningHash(status);
  return { readyAt: status?.readyAt ?? clock.now().toISOString(), ...(answered === undefined ? {} : { answered }) };
}

function addresses(urls: { readonly [component in Component]?: string }): Findings {
  const url = urls.frontend ?? urls.backend;
  return { urls, ...(url === undefined ? {} : { url }) };
}

async function silentUrls(
  environment: EphemeralEnvironment,
  urls: { readonly [component in Component]?: string },
  { prober, repositories }: StepContext,
): Promise<string[]> {
  const known = repositoriesOf(environment, repositories);
  const probe = async (component: Component, url: string) => {
    const result = await prober.probe(url, known[component]?.spec.healthPath ?? "/");
    return result.status === "healthy" ? [] : [sentence(url, result)];
  };
  const asked = COMPONENTS.flatMap((component) => (urls[component] ? [probe(component, urls[component])] : []));
  return (await Promise.all(asked)).flat();
}

const sentence = (url: string, { status, message }: ProbeResult) => `${url} is ${status}: ${message}`;

function unanswered(environment: EphemeralEnvironment, silent: readonly string[], context: StepContext): StepResult {
  const { status } = environment;
  const message = silent.join("; ");
  const former = findCondition(status?.conditions, "UrlsReady");
  const silentMs =
    former === undefined || former.status === "True"
      ? 0
      : context.clock.now().getTime() - Date.parse(former.lastTransitionTime);
  if (runningHash(status) !== status?.answered)
    return waiting("NotAnswering", message, { recheckAfterMs: patience(silentMs) });
  const isDown = silentMs >= context.settings.reconcile.downMinutes * MINUTE_MS;
  // A failed URL is asked on: the environment heals by itself when it answers again.
  if (isDown || former?.status === "False") return { ...failed("UrlDown", message), recheckAfterMs: 10_000 };
  return waiting("UrlDown", message, { recheckAfterMs: 5_000 });
}

/** The first answer is awaited eagerly, then ever more calmly. */
function patience(waitedMs: number): number {
  if (waitedMs < 5_000) return 100;
  if (waitedMs < MINUTE_MS) return 1_000;
  return waitedMs < 5 * MINUTE_MS ? 2_000 : 10_000;
}
