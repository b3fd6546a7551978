import { COMPONENTS, namespaceName } from "../../../crds/names.ts";
import { isForbidden, isNotFound, isUnavailable, type KubeError } from "../../kit/client/errors.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import { translated } from "../../kit/client/translated.ts";
import { type Clock, elapsedMs } from "../../kit/time/clock.ts";
import type { Cluster, Owner } from "../../ports/cluster.ts";
import {
  type Deployer,
  DeployerUnavailable,
  type DeploymentProblem,
  type WantedApplication,
} from "../../ports/deployer.ts";
import { type ApplicationStatus, deletionErrors, type KeptApplicationStatus, observed } from "./application-status.ts";
import { applicationKind, appProjectKind } from "./kinds.ts";
import {
  type ArgocdSettings,
  ASKED_AT,
  applicationObject,
  askingObject,
  endingPatch,
  projectObject,
  sourceAnnotation,
  sourceOf,
} from "./objects.ts";
import { removeOutdatedJobs } from "./outdated-jobs.ts";

/** The parts that the deployer works with. */
export interface ArgocdContext {
  readonly cluster: Cluster;
  readonly client: Pick<KubeClient, "list" | "delete">;
  readonly settings: ArgocdSettings;
  readonly clock: Clock;
}

/** The Deployer port on Argo CD's resources: one Application and one AppProject an environment. */
export function argocdDeployer({ cluster, client, settings, clock }: ArgocdContext): Deployer {
  const ref = (environment: { name: string }) => ({
    name: namespaceName(environment.name),
    namespace: settings.namespace,
  });
  const endSync = async (environment: Owner) => {
    const known = cluster.observe(environment, applicationKind, ref(environment));
    const { isCalm = true } = (known?.status ?? {}) as Partial<KeptApplicationStatus>;
    if (isCalm) return;
    await written(async () => {
      const found = await cluster.read(environment, applicationKind, ref(environment));
      const { phase, startedAt } = ((found?.status ?? {}) as ApplicationStatus).operationState ?? {};
      if (phase !== "Running" || startedAt === undefined) return;
      await cluster.change(environment, applicationKind, ref(environment), endingPatch(startedAt));
    });
  };
  const ask = async (wanted: WantedApplication, problem?: DeploymentProblem) => {
    const asking = askingObject(applicationObject(wanted, settings), problem, clock.now());
    await written(() => cluster.ensure(wanted.environment, applicationKind, asking));
    return asking;
  };
  return {
    async ensureProject(environment, chart) {
      await written(() => cluster.ensure(environment, appProjectKind, projectObject(environment, chart, settings)));
    },

    async ensure(wanted) {
      const application = applicationObject(wanted, settings);
      const outcome = await written(() => cluster.ensure(wanted.environment, applicationKind, application));
      return outcome === "repaired" ? "changed" : outcome;
    },

    observe(wanted) {
      const found = cluster.observe(wanted.environment, applicationKind, ref(wanted.environment));
      return found && observed((found.status ?? {}) as Partial<KeptApplicationStatus>, sourceOf(wanted));
    },

    async retry(wanted, brokenSince) {
      const found = cluster.observe(wanted.environment, applicationKind, ref(wanted.environment));
      const inMs = requeueInMs(found?.metadata.annotations?.[ASKED_AT], brokenSince, clock.now());
      if (found === undefined || inMs > 0) return inMs;
      const { problem } = observed((found.status ?? {}) as Partial<KeptApplicationStatus>, sourceOf(wanted));
      const asking = await ask(wanted, problem);
      return requeueInMs(asking.metadata.annotations?.[ASKED_AT], brokenSince, clock.now());
    },

    async replaceJobs(wanted) {
      const found = cluster.observe(wanted.environment, applicationKind, ref(wanted.environment));
      const { unchangedJobs, failedSync } = (found?.status ?? {}) as Partial<KeptApplicationStatus>;
      if (unchangedJobs === undefined) return [];
      const namespace = namespaceName(wanted.environment.name);
      const { removed, running } = await removeOutdatedJobs(client, namespace, unchangedJobs);
      // A sync that runs tries again by itself.
      if (removed.length > 0 && failedSync !== undefined) await ask(wanted);
      return running.map((name) => ({ kind: "Job", name }));
    },

    endSync,

    deployedSources(environment) {
      const annotations = cluster.observe(environment, applicationKind, ref(environment))?.metadata.annotations ?? {};
      const sources = COMPONENTS.flatMap((component) => {
        const [, branch, commit] = /^(.*)@(.*)$/s.exec(annotations[sourceAnnotation(component)] ?? "") ?? [];
        return branch && commit ? [[component, { branch, commit }]] : [];
      });
      return Object.fromEntries(sources);
    },

    async remove(environment) {
      // Argo CD deletes only without a running sync, and a sync waits for its hooks.
      await endSync(environment);
      const removal = await written(() => cluster.remove(environment, applicationKind, ref(environment)));
      const errors = deletionErrors(cluster.observe(environment, applicationKind, ref(environment)));
      if (removal.state === "gone" || errors.length === 0) return removal;
      return { ...removal, blockers: [...(removal.blockers ?? []), ...errors] };
    },

    async abandon(environment) {
      const removal = await written(() => cluster.remove(environment, applicationKind, ref(environment)));
      if (removal.state === "gone") return removal;
      await written(() => cluster.release(environment, applicationKind, ref(environment)));
      return written(() => cluster.remove(environment, applicationKind, ref(environment)));
    },

    removeProject: (environment) => written(() => cluster.remove(environment, appProjectKind, ref(environment))),
  };
}

/** Bounds of the requeue delay of a failed sync, which equals the age of the failure. */
const REQUEUE_MS = { first: 15_000, longest: 600_000 };

/**
 * The pause equals the failure's age at the last retry. A time in the future comes from a clock that was set back
 * since, and is ignored.
 */
function requeueInMs(askedAt: string | undefined, brokenSince: Date, now: Date): number {
  const moments = [brokenSince, new Date(askedAt ?? "")].map((moment) => moment.getTime());
  const past = moments.filter((moment) => moment <= now.getTime());
  if (past.length === 0) return 0;
  const last = Math.max(...past);
  const ageMs = elapsedMs(brokenSince, new Date(last));
  const pauseMs = Math.min(REQUEUE_MS.longest, Math.max(REQUEUE_MS.first, ageMs));
  return Math.max(0, last + pauseMs - now.getTime());
}

const written = <T>(call: () => Promise<T>) => translated(call, toUnavailable);

function toUnavailable(error: unknown): DeployerUnavailable | undefined {
  const obstacle = obstacleOf(error);
  if (obstacle === undefined) return undefined;
  const message = `Argo CD's objects can't be written: ${obstacle} (${(error as KubeError).message})`;
  return new DeployerUnavailable(message, { cause: error });
}

function obstacleOf(error: unknown): string | undefined {
  if (isNotFound(error))
    return "its kinds or its namespace are not there, so install it, or correct deployer.namespace";
  if (isForbidden(error)) return "the platform lacks the right, or a policy refuses it: see the platform's chart";
  return isUnavailable(error) ? "the API server does not take it now" : undefined;
}
