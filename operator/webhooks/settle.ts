import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { ConfigInvalid, CreationFailed, EnvironmentConflict } from "../../crds/errors.ts";
import {
  isPending,
  type RuleVerdict,
  type WebhookDelivery,
  type WebhookDeliverySpec,
  type WebhookDeliveryStatus,
} from "../../crds/webhooks/webhook-delivery.ts";
import { RemovalRefused } from "../ports/environments.ts";
import type { PullRequestHost } from "../ports/webhooks/pull-request-host.ts";
import { type ActContext, act, type Doable, isDoable, targetOf, type Written } from "./act.ts";
import type { Decided, DecisionContext, Subject } from "./decision.ts";
import { isReport, reportCommits } from "./merge-group/report-commits.ts";
import { inOneWrite } from "./one-write.ts";
import { waitsSince } from "./waiting.ts";

/** What settling a delivery takes of the world. */
export interface SettleContext extends ActContext {
  /** What to do about a subject now; in the order in which it is to be done. */
  readonly decide: (subject: Subject, world: DecisionContext) => Promise<readonly Decided[]>;
  readonly world: DecisionContext;
  /** Absent in the facade: the operator tells hosts. */
  readonly pullRequestHost?: Pick<PullRequestHost, "report">;
}

/** How a delivery is settled. */
export interface SettleOptions {
  /** More targets than one are left to the operator, because a host waits for the answer. */
  readonly atOnce: "one" | "all";
  readonly signal?: AbortSignal;
}

/** How often a decision is taken anew because the world changed meanwhile. */
const MOST_ATTEMPTS = 4;
const MOST_VERDICTS = 40;
const MOST_ENVIRONMENTS = 100;
const MESSAGE_MAX_LENGTH = 500;
/** The reason of what the API server refuses; `pending` where that may pass. */
export const REFUSED = "Refused";

const AUDIT_UNAVAILABLE: WebhookDeliveryStatus = {
  phase: "pending",
  reason: "AuditUnavailable",
  message: "the audit log can't be written now: it is done as soon as it can",
};

/**
 * Decides what to do about a delivery by the state of now, and does it: never what was decided earlier, so that it may
 * be done again at any time.
 *
 * @returns its outcome, which is `pending` where something is left to do
 * @throws ClusterUnavailable, SecretsUnavailable, HostUnavailable
 */
export async function settle(
  delivery: WebhookDelivery,
  context: SettleContext,
  options: SettleOptions,
): Promise<WebhookDeliveryStatus> {
  const { signal } = options;
  const fresh = new Map<string, EphemeralEnvironment | undefined>();
  const world = withFresh(context.world, fresh);
  const written: Written[] = isPending(delivery) ? [...(delivery.status?.environments ?? [])] : [];
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const decided = await decideAll(delivery.spec, { ...context, world }, delivery.metadata.name);
    const left = decided.map(({ decision }) => decision).filter(isDoable);
    if (options.atOnce === "one" && left.length > 1) {
      return pending(decided, "SeveralEnvironments", "more than one environment is concerned: the operator goes on");
    }
    const changed = await actOnEach(left, delivery, { ...context, written, signal });
    if (typeof changed === "object") return { ...changed, ...traceOf(decided), ...environmentsOf(written) };
    if (changed === undefined) {
      return reported(
        decided,
        delivery,
        { ...context, signal },
        outcome(decided, written, waitsSince(delivery, world.clock)),
      );
    }
    fresh.set(changed, await context.writes.findNow(changed));
  }
  return { phase: "pending", reason: "Contended", message: "others change the environment at the same time" };
}

/**
 * Reports commits to their host, where decisions are that, after everything else.
 *
 * @param done the outcome of everything else
 * @returns the outcome of all
 */
async function reported(
  decided: readonly Decided[],
  delivery: WebhookDelivery,
  context: SettleContext & { readonly signal: AbortSignal | undefined },
  done: WebhookDeliveryStatus,
): Promise<WebhookDeliveryStatus> {
  const reports = decided.map(({ decision }) => decision).filter(isReport);
  if (reports.length === 0) return done;
  const status = await reportCommits(reports, delivery, context);
  if (done.phase === "pending" || (status.phase === "acted" && done.phase === "acted")) return done;
  const { environments } = done;
  return { ...status, ...traceOf(decided), ...(environments === undefined ? {} : { environments }) };
}

/**
 * What is to be done about an event now, for each of its Repositories: one write for each environment.
 *
 * @param delivery the name of the stored delivery; none when the event is only simulated
 */
export async function decideAll(
  { event, host = "", repositories = [] }: Pick<WebhookDeliverySpec, "event" | "host" | "repositories">,
  { decide, world }: Pick<SettleContext, "decide" | "world">,
  delivery?: string,
): Promise<readonly Decided[]> {
  const decided: Decided[] = [];
  for (const name of repositories) {
    const repository = world.repositories.find(name);
    if (repository !== undefined) decided.push(...(await decide({ event, repository, host, delivery }, world)));
  }
  return inOneWrite(decided);
}

/** The outcome when everything that could be done is done. */
function outcome(
  decided: readonly Decided[],
  written: readonly Written[],
  since: ReturnType<typeof waitsSince>,
): WebhookDeliveryStatus {
  const decisions = decided.map(({ decision }) => decision);
  const wait = decisions.find((decision) => decision.do === "wait");
  if (wait !== undefined) {
    return { ...pending(decided, wait.reason, wait.message), ...environmentsOf(written), ...since };
  }
  if (written.length > 0) {
    const did = decisions.find(isDoable);
    return said("acted", did?.reason ?? "Done", sentenceOf(written), {
      ...traceOf(decided),
      ...environmentsOf(written),
    });
  }
  const nothing = decisions.find((decision) => decision.do === "nothing");
  if (nothing === undefined) return said("ignored", "RepositoryGone", "its repository is no longer registered", {});
  return said("ignored", nothing.reason, nothing.message, traceOf(decided));
}

/** The sentence without names, which not everybody may read: they are in the outcome's `environments`. */
function sentenceOf(written: readonly Written[]): string {
  const actions = [...new Set(written.map(({ action }) => action))].join(" or ");
  return written.length === 1 ? `the environment is ${actions}` : `${written.length} environments are ${actions}`;
}

const pending = (decided: readonly Decided[], reason: string, message: string) =>
  said("pending", reason, message, traceOf(decided));

function said(
  phase: WebhookDeliveryStatus["phase"],
  reason: string,
  message: string,
  more: Partial<WebhookDeliveryStatus>,
): WebhookDeliveryStatus {
  return { phase, reason, message: message.slice(0, MESSAGE_MAX_LENGTH), ...more };
}

/** Does one after the other; answers the name of the first that has changed, or why the rest is not done. */
async function actOnEach(
  decisions: readonly Doable[],
  delivery: WebhookDelivery,
  context: SettleContext & { readonly written: Written[]; readonly signal: AbortSignal | undefined },
): Promise<string | WebhookDeliveryStatus | undefined> {
  for (const decision of decisions) {
    context.signal?.throwIfAborted();
    // As privileged changes of the REST interface: what can't be recorded is not done.
    if (!(await context.audit.isKept())) return AUDIT_UNAVAILABLE;
    try {
      const done = await act(decision, delivery, context);
      if (done === "changed") return targetOf(decision);
      context.written.push(done);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return said(phaseOf(error), REFUSED, `the environment: ${error.message}`, {});
    }
  }
  return undefined;
}

/** What the API server refuses, as opposed to what it could not take. */
const isRefusal = (error: unknown): error is Error =>
  error instanceof ConfigInvalid || error instanceof CreationFailed || error instanceof EnvironmentConflict;

/** Rights and policies may just be changing, as in an upgrade; anything else would be refused again. */
const phaseOf = (refusal: Error) =>
  refusal instanceof CreationFailed || refusal instanceof RemovalRefused ? "pending" : "failed";

/** The world with these environments as they were read a moment ago, ahead of the watch. */
function withFresh(world: DecisionContext, fresh: ReadonlyMap<string, EphemeralEnvironment | undefined>) {
  const { environments } = world;
  const find = (name: string) => (fresh.has(name) ? fresh.get(name) : environments.find(name));
  const ofRepository = (repository: string) =>
    environments.ofRepository(repository).flatMap(({ metadata }) => find(metadata.name) ?? []);
  return { ...world, environments: { ...environments, find, ofRepository } };
}

/** An outcome whose trace begins with what was found before. */
export function withTrace(first: readonly RuleVerdict[], status: WebhookDeliveryStatus): WebhookDeliveryStatus {
  if (first.length === 0) return status;
  return { ...status, trace: [...first, ...(status.trace ?? [])].slice(0, MOST_VERDICTS) };
}

/** Each verdict once: a rule may stand in front of several decisions. */
function traceOf(decided: readonly Decided[]): { trace?: RuleVerdict[] } {
  const trace = [...new Set(decided.flatMap((one) => one.trace))].slice(0, MOST_VERDICTS);
  return trace.length === 0 ? {} : { trace };
}

function environmentsOf(written: readonly Written[]): { environments?: Written[] } {
  return written.length === 0 ? {} : { environments: written.slice(0, MOST_ENVIRONMENTS) };
}
