import { findCondition } from "../../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../../crds/ephemeral-environment.ts";
import { COMPONENTS, type Component } from "../../../crds/names.ts";
import type { ProbeResult } from "../../ports/url-prober.ts";
import { urlsOf } from "../desired/values.ts";
import type { ProbeSchedule } from "../probe-schedule.ts";
import { repositoriesOf } from "../repositories.ts";
import { done, type Findings, failed, type Step, type StepContext, type StepResult, waiting } from "../step.ts";

/** What a URL that stopped answering is called. */
export const URL_DOWN = "UrlDown";
const MINUTE_MS = 60_000;

/** `ready` is earned by an answer of every URL, and kept by answering again every so often. */
export function availability(schedule: ProbeSchedule): Step {
  return {
    condition: "UrlsReady",
    after: ["ApplicationSynced"],

    async run(environment, context) {
      const urls = urlsOf(environment, context.settings);
      const findings = addresses(urls);
      const former = findCondition(environment.status?.conditions, "UrlsReady");
      const dueInMs = former?.status === "True" ? schedule.dueInMs(environment.metadata.uid) : 0;
      if (dueInMs > 0) return done("Answering", { findings, recheckAfterMs: dueInMs });

      const silent = await silentUrls(environment, urls, context);
      schedule.probed(environment.metadata.uid);
      if (silent.length > 0) return { ...unanswered(environment, silent, context), findings };
      const readyAt = environment.status?.readyAt ?? context.clock.now().toISOString();
      return done("Answering", {
        findings: { ...findings, readyAt },
        recheckAfterMs: schedule.dueInMs(environment.metadata.uid),
      });
    },
  };
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
  const message = silent.join("; ");
  const former = findCondition(environment.status?.conditions, "UrlsReady");
  if (environment.status?.readyAt === undefined) {
    return waiting("NotAnswering", message, { recheckAfterMs: patience(former?.lastTransitionTime, context) });
  }
  const downSince =
    former === undefined || former.status === "True" ? undefined : Date.parse(former.lastTransitionTime);
  const limitMs = context.settings.reconcile.downMinutes * MINUTE_MS;
  const down = downSince !== undefined && context.clock.now().getTime() - downSince >= limitMs;
  // A failed URL is asked on: the environment heals by itself when it answers again.
  if (down || former?.status === "False") return { ...failed(URL_DOWN, message), recheckAfterMs: 10_000 };
  return waiting(URL_DOWN, message, { recheckAfterMs: 5_000 });
}

/** The first answer is awaited eagerly, then ever more calmly. */
function patience(since: string | undefined, { clock }: StepContext): number {
  const waitedMs = since === undefined ? 0 : clock.now().getTime() - Date.parse(since);
  if (waitedMs < 30_000) return 100;
  return waitedMs < 5 * MINUTE_MS ? 2_000 : 10_000;
}
