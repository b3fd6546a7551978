import { COMMIT_ANNOTATION } from "../../../crds/group.ts";
import { namespaceName } from "../../../crds/names.ts";
import { titleOf } from "../../../crds/object-title.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import type { Clock } from "../../kit/time/clock.ts";
import { within } from "../../kit/time/deadline.ts";
import { yieldIfDue } from "../../kit/time/yield-if-due.ts";
import { printable, SecretMasks, TooMuchToMask } from "../../masking/secret-mask.ts";
import type { Pods } from "../../ports/pods.ts";
import { type ComponentRules, chosenPods, type Labelled } from "./component-pods.ts";
import { type LogPlace, stampedLines, wholeLines } from "./container-log.ts";
import { findingsIn, podsIn } from "./namespace-state.ts";
import { isReady } from "./pod-objects.ts";
import {
  COMPONENT_LABEL,
  currentPods,
  type NamespaceState,
  newestPod,
  type PodFinding,
  runningIn,
  servingPods,
  speakerOf,
} from "./pod-problems.ts";
import { secretReader, secretsOfPod } from "./pod-secrets.ts";
import { hasKnownState, templateOf } from "./resource-states.ts";

const LINES = 20;
const SHOWN_BYTES = 2 * 1024;
const LONGEST_LINE = 500;
/** More than twenty lines should need: a cut could leave half a secret. */
const READ_BYTES = 64 * 1024;
const LOG_DEADLINE_MS = 5_000;

interface PodReaders {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly masks: SecretMasks;
}

/**
 * Pods port on the Kubernetes API, with the rights of the environment's namespace.
 *
 * @param services names of the backing services, which belong to no component
 */
export function kubernetesPods(client: KubeClient, clock: Clock, services: readonly string[]): Pods {
  // Masks of its own, so that log readers delay no reconcile.
  const context = { client, clock, masks: new SecretMasks(yieldIfDue) };
  return {
    async diagnose({ name }, kinds, selectors) {
      const { findings, ...state } = await findingsIn(context, namespaceName(name), ["Deployment", ...kinds]);
      const { quiet, isServing } = findings;
      const problems = ofComponents(findings.problems, state, { selectors, services }).map((finding) => {
        const { said: _, pod: __, speaker: ___, ...problem } = finding;
        return { ...problem, evidence: () => evidence(context, finding) };
      });
      // An object of a kind without a row may be unhealthy.
      return { problems, quiet, isServing: isServing && kinds.every(hasKnownState) };
    },

    async lastOutput({ name }, object) {
      try {
        const { pods, makers } = await podsIn(client, namespaceName(name));
        const pod = newestPod(pods, object, makers);
        const speaker = pod && speakerOf(pod);
        return pod === undefined || speaker === undefined ? "" : await evidence(context, { said: "", pod, speaker });
      } catch {
        // The wait is known without the output, which may fail.
        return "";
      }
    },

    async readiness({ name }, component) {
      const { pods, makers } = await podsIn(client, namespaceName(name), `${COMPONENT_LABEL}=${component}`);
      const current = currentPods(pods, makers);
      if (current.length === 0) return "absent";
      return current.every(isReady) ? "ready" : "unready";
    },

    async commits({ name }, selectors) {
      const { pods, makers } = await podsIn(client, namespaceName(name));
      const chosen = chosenPods(servingPods(pods, makers), { selectors, services });
      return new Map(
        Object.keys(selectors).flatMap((component) => {
          const [commit, ...others] = new Set(
            chosen.of(component).flatMap((pod) => {
              const stated = pod.metadata.annotations?.[COMMIT_ANNOTATION];
              return stated === undefined && !chosen.componentOf(pod)?.isLabelled ? [] : [stated];
            }),
          );
          return commit === undefined || others.length > 0 ? [] : [[component, commit] as const];
        }),
      );
    },

    async running({ name }) {
      const { pods, makers } = await podsIn(client, namespaceName(name));
      return runningIn(pods, makers);
    },
  };
}

/** The container's last lines; else the cluster's message, which may quote the container. */
async function evidence(
  context: PodReaders,
  { said, pod, speaker }: Pick<PodFinding, "said" | "pod" | "speaker">,
): Promise<string> {
  if (pod === undefined) return lastLines(printable(said));
  try {
    const [lines, secrets] = await Promise.all([
      speaker === undefined ? "" : log(context, { ...speaker, pod }),
      secretsOfPod(secretReader(context.client), pod),
    ]);
    // An unreadable value can't be masked.
    if (speaker !== undefined && secrets.isOneMissing) return "";
    const mask = context.masks.of(secrets.values);
    return lastLines(await mask(lines)) || lastLines(await mask(said));
  } catch (error) {
    if (error instanceof TooMuchToMask) return error.message;
    // The problem is known without evidence, which may fail.
    return "";
  }
}

/** Empty where the kubelet has none or does not answer; its own messages have no stamp. */
async function log({ client, clock }: PodReaders, speaker: LogPlace): Promise<string> {
  return within({ clock, deadlineMs: LOG_DEADLINE_MS }, ({ signal }) =>
    wholeLines(client, speaker, { tailLines: String(LINES) }, { limitBytes: READ_BYTES, signal }),
  ).then(
    ({ text }) =>
      stampedLines(text)
        .map((line) => line.text)
        .join("\n"),
    () => "",
  );
}

/** End of a text in whole lines; a very long one keeps its beginning. */
function lastLines(text: string): string {
  const shown: string[] = [];
  let left = SHOWN_BYTES;
  for (const line of text.trimEnd().split("\n").slice(-LINES).reverse()) {
    const short = line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line;
    left -= Buffer.byteLength(short) + 1;
    if (left < 0) break;
    shown.unshift(short);
  }
  return shown.join("\n");
}

/** Findings, each with the component or backing service of its pods, if any. */
function ofComponents(
  findings: readonly PodFinding[],
  { pods, resources }: NamespaceState,
  rules: ComponentRules,
): readonly PodFinding[] {
  const templates = new Map(
    resources.flatMap((object) => {
      const template = templateOf(object);
      const { kind, metadata } = object;
      return template === undefined ? [] : [[titleOf({ kind, name: metadata.name }), template] as const];
    }),
  );
  const chosen = chosenPods<Labelled>([...pods, ...templates.values()], rules);
  return findings.map((finding) => {
    const labelled = finding.pod ?? templates.get(titleOf(finding.object));
    const component = labelled && chosen.componentOf(labelled);
    if (component === undefined) return finding;
    return { ...finding, component: component.name, ...(component.isLabelled ? {} : { isUnlabelled: true }) };
  });
}
