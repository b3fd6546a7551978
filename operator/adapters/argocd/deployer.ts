import { ARGOCD_LABEL, ARGOCD_TRACKING_ANNOTATION } from "../../../crds/environment/managed-by.ts";
import { COMPONENTS, namespaceName } from "../../../crds/names.ts";
import {
  insteadOf,
  isConflict,
  isForbidden,
  isNotFound,
  isUnavailable,
  type KubeError,
  translated,
} from "../../kit/client/errors.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import { type KubeObject, type ObjectMeta, resourceType } from "../../kit/client/objects.ts";
import { elapsedMs } from "../../kit/time/clock.ts";
import type { Owner, Removal } from "../../ports/cluster.ts";
import {
  type Deployer,
  type DeployerContext,
  DeployerUnavailable,
  type DeploymentProblem,
  type DesiredApplication,
} from "../../ports/deployer.ts";
import {
  type ApplicationStatus,
  deletionErrors,
  type KeptApplicationStatus,
  observed,
  type UnchangedJobs,
} from "./application-status.ts";
import { createChartLogins } from "./chart-logins.ts";
import { applicationKind, appProjectKind } from "./kinds.ts";
import {
  type ArgocdSettings,
  applicationObject,
  endingPatch,
  projectObject,
  RETRIED_AT,
  rerenderedObject,
  retriedObject,
  sourceAnnotation,
  sourceOf,
} from "./objects.ts";

export type ArgocdContext = DeployerContext & { readonly settings: ArgocdSettings };

/** The Deployer port on Argo CD's resources: one Application and one AppProject an environment, and a Secret for the login at its chart's place. */
export function argocdDeployer({ cluster, client, settings, clock }: ArgocdContext): Deployer {
  const logins = createChartLogins(cluster, settings, clock);
  const ref = ({ name }: Owner) => ({ name: namespaceName(name), namespace: settings.namespace });
  const applicationOf = (environment: Owner) => cluster.observe(environment, applicationKind, ref(environment));
  const statusOf = (environment: Owner) => (applicationOf(environment)?.status ?? {}) as Partial<KeptApplicationStatus>;
  const removeApplication = (environment: Owner) =>
    written(() => cluster.remove(environment, applicationKind, ref(environment)));
  const takeLogin = async (environment: Owner): Promise<Removal> =>
    logins.mark(environment) ? written(() => logins.take(environment)) : { state: "gone" };
  /** The project's mark once the login is taken away; the former one until it is gone. */
  const markWithout = async (environment: Owner) => {
    const mark = logins.mark(environment);
    const { state } = await takeLogin(environment);
    return mark !== undefined && state === "gone" ? "" : mark;
  };
  const endSync = async (environment: Owner) => {
    const { isCalm = true } = statusOf(environment);
    if (isCalm) return;
    await written(async () => {
      const current = await cluster.read(environment, applicationKind, ref(environment));
      const { phase, startedAt } = ((current?.status ?? {}) as ApplicationStatus).operationState ?? {};
      if (phase !== "Running" || startedAt === undefined) return;
      await cluster.change(environment, applicationKind, ref(environment), endingPatch(startedAt));
    });
  };
  /** Requests another attempt; answers the time of the request. */
  const retry = async (desired: DesiredApplication, problem?: DeploymentProblem) => {
    const now = clock.now();
    const retried = retriedObject(applicationObject(desired, settings), problem, now);
    await written(() => cluster.ensure(desired.environment, applicationKind, retried));
    return now.toISOString();
  };
  return {
    async ensureProject(environment, chart, login) {
      const mark = login?.source ?? (await markWithout(environment));
      const project = projectObject(environment, chart, { ...settings, login: mark });
      await written(() => cluster.ensure(environment, appProjectKind, project));
      if (login?.mayBeOutdated) logins.forgetAge(environment);
      const { source, credential } = login ?? {};
      if (source === undefined || credential === undefined) return;
      await written(() => logins.give(environment, { chart, source, credential }));
    },

    loginAgeMs: (environment, chart, source) => logins.ageMs(environment, { chart, source }),

    async ensure(desired) {
      const { environment } = desired;
      const application = applicationObject(desired, settings);
      const isUnrendered = () => statusOf(environment).conditions?.some(({ type }) => type === "ComparisonError");
      const manifest = logins.isChanged(environment) && isUnrendered() ? rerenderedObject(application) : application;
      const outcome = await written(() => cluster.ensure(environment, applicationKind, manifest));
      return outcome === "repaired" ? "changed" : outcome;
    },

    observe(desired) {
      const application = applicationOf(desired.environment);
      return application && observed(statusOf(desired.environment), sourceOf(desired));
    },

    async retry(desired, brokenSince) {
      const application = applicationOf(desired.environment);
      const inMs = requeueInMs(application?.metadata.annotations?.[RETRIED_AT], brokenSince, clock.now());
      if (application === undefined || inMs > 0) return inMs;
      const { problem } = observed(statusOf(desired.environment), sourceOf(desired));
      return requeueInMs(await retry(desired, problem), brokenSince, clock.now());
    },

    async replaceJobs(desired) {
      const { unchangedJobs, failedSync } = statusOf(desired.environment);
      if (unchangedJobs === undefined) return [];
      const namespace = namespaceName(desired.environment.name);
      const { removed, running } = await removeOutdatedJobs(client, namespace, unchangedJobs);
      // A sync that runs tries again by itself.
      if (removed.length > 0 && failedSync !== undefined) await retry(desired);
      return running.map((name) => ({ kind: "Job", name }));
    },

    endSync,

    deployedSources(environment) {
      const annotations = applicationOf(environment)?.metadata.annotations ?? {};
      const sources = COMPONENTS.flatMap((component) => {
        const [, branch, commit] = /^(.*)@(.*)$/s.exec(annotations[sourceAnnotation(component)] ?? "") ?? [];
        return branch && commit ? [[component, { branch, commit }]] : [];
      });
      return Object.fromEntries(sources);
    },

    async remove(environment) {
      // Argo CD deletes only without a running sync, and a sync waits for its hooks.
      await endSync(environment);
      const removal = await removeApplication(environment);
      const errors = deletionErrors(applicationOf(environment));
      if (removal.state === "gone" || errors.length === 0) return removal;
      return { ...removal, blockers: [...(removal.blockers ?? []), ...errors] };
    },

    async abandon(environment) {
      const removal = await removeApplication(environment);
      if (removal.state === "gone") return removal;
      await written(() => cluster.release(environment, applicationKind, ref(environment)));
      return removeApplication(environment);
    },

    async removeProject(environment) {
      // The project is what says that there is a login, so it goes last.
      const login = await takeLogin(environment);
      if (login.state === "removing") return login;
      return written(() => cluster.remove(environment, appProjectKind, ref(environment)));
    },
  };
}

/** Bounds of the requeue delay of a failed sync, which equals the age of the failure. */
const REQUEUE_MS = { first: 15_000, longest: 600_000 };

/** The pause is the failure's age at the last retry. A future time, of a clock since set back, is ignored. */
function requeueInMs(retriedAt: string | undefined, brokenSince: Date, now: Date): number {
  const moments = [brokenSince, new Date(retriedAt ?? "")].map((moment) => moment.getTime());
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

interface Job extends KubeObject {
  readonly spec?: { readonly ttlSecondsAfterFinished?: number };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const jobType = resourceType<Job>({ group: "batch", version: "v1", kind: "Job", plural: "jobs", namespaced: true });

/**
 * Deletes those of the Jobs that have ended and may go then, as their TTL says: the next attempt of the sync makes them anew. What
 * the sync itself has made stays, or one update would run it twice. The policy `platform-jobs` lets the platform delete no others.
 */
async function removeOutdatedJobs(
  client: Pick<KubeClient, "list" | "delete">,
  namespace: string,
  { names, startedAt }: UnchangedJobs,
) {
  const { items } = await client.list(jobType, { namespace });
  const outdated = items.filter(
    ({ metadata, spec }) =>
      names.includes(metadata.name) &&
      metadata.creationTimestamp < startedAt &&
      metadata.deletionTimestamp === undefined &&
      spec?.ttlSecondsAfterFinished !== undefined &&
      isTracked(metadata, namespace),
  );
  const ended = outdated.filter(hasEnded);
  for (const { metadata } of ended) {
    const { name, uid } = metadata;
    // Another one of that name is none of these.
    await client.delete(jobType, { name, namespace }, { uid }).catch(insteadOf(isConflict, "gone"));
  }
  const running = outdated.filter((job) => !ended.includes(job));
  return { removed: ended.map(nameOf), running: running.map(nameOf) };
}

const nameOf = ({ metadata }: Job) => metadata.name;

const hasEnded = ({ status }: Job) =>
  status?.conditions?.some(({ type, status: is }) => (type === "Complete" || type === "Failed") && is === "True") ===
  true;

/** True for what the application made: https://argo-cd.readthedocs.io/en/stable/user-guide/resource_tracking/ */
const isTracked = ({ annotations = {}, labels = {} }: ObjectMeta, application: string) =>
  annotations[ARGOCD_TRACKING_ANNOTATION]?.startsWith(`${application}:`) || labels[ARGOCD_LABEL] === application;
