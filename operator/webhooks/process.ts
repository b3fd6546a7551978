import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { ConfigInvalid, CreationFailed, EnvironmentConflict } from "../../crds/errors.ts";
import { present } from "../../crds/present.ts";
import {
  isPending,
  type RuleVerdict,
  type WebhookDelivery,
  type WebhookDeliverySpec,
  type WebhookDeliveryStatus,
} from "../../crds/webhooks/webhook-delivery.ts";
import type { AuditTrail } from "../ports/audit-trail.ts";
import { type DecidedWrites, RemovalRefused } from "../ports/environments.ts";
import type { CommitStatusReporter } from "../ports/webhooks/pull-request-host.ts";
import { type Decided, type Decision, type DecisionContext, deliveryStatus, type RepositoryEvent } from "./decision.ts";
import { isReport, reportCommits } from "./merge-group.ts";
import { waitsSince } from "./waiting.ts";

/** Dependencies for processing a delivery. */
export interface ProcessingContext {
  /** Decides about a subject; in the order of execution. */
  readonly decide: (subject: RepositoryEvent, context: DecisionContext) => Promise<readonly Decided[]>;
  readonly decisionContext: DecisionContext;
  readonly writes: DecidedWrites;
  readonly audit: AuditTrail;
  /** Names audit records. */
  readonly newId: () => string;
  /** Absent in the API: the operator reports to hosts. */
  readonly pullRequestHost?: CommitStatusReporter;
}

/** Options for processing a delivery. */
export interface ProcessingOptions {
  /** `one` leaves several targets to the operator, because a host waits for the answer. */
  readonly atOnce: "one" | "all";
  readonly signal?: AbortSignal;
}

/** Attempts at a decision whose basis changes meanwhile. */
const MOST_ATTEMPTS = 4;
const MOST_VERDICTS = 40;
const MOST_ENVIRONMENTS = 100;
/** Reason of a refusal by the API server; `pending` if it may pass. */
export const REFUSED = "Refused";

const AUDIT_UNAVAILABLE: WebhookDeliveryStatus = {
  phase: "pending",
  reason: "AuditUnavailable",
  message: "the audit log can't be written now: it is done as soon as it can",
};

/**
 * Decides about a delivery by the current state, never by earlier decisions, and acts: repeatable at any time.
 *
 * @returns the outcome, `pending` with work left
 * @throws ClusterUnavailable, SecretsUnavailable, HostUnavailable
 */
export async function processDelivery(
  delivery: WebhookDelivery,
  context: ProcessingContext,
  { atOnce, signal }: ProcessingOptions,
): Promise<WebhookDeliveryStatus> {
  const fresh = new Map<string, EphemeralEnvironment | undefined>();
  const decisionContext = withFresh(context.decisionContext, fresh);
  const written: Written[] = isPending(delivery) ? [...(delivery.status?.environments ?? [])] : [];
  const processing = { ...context, decisionContext, delivery, written, signal };
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const decided = await decideAll(delivery.spec, processing, delivery.metadata.name);
    const writes = decided.map(({ decision }) => decision).filter(isWriteDecision);
    if (atOnce === "one" && writes.length > 1) {
      const message = "more than one environment is concerned: the operator goes on";
      return deliveryStatus("pending", "SeveralEnvironments", message, traceOf(decided));
    }
    const changed = await actOnEach(writes, processing);
    if (typeof changed === "object") return { ...changed, ...traceOf(decided), ...environmentsOf(written) };
    if (changed === undefined) return reported(decided, outcome(decided, processing), processing);
    fresh.set(changed, await context.writes.findNow(changed));
  }
  return { phase: "pending", reason: "Contended", message: "others change the environment at the same time" };
}

interface Processing extends ProcessingContext {
  readonly delivery: WebhookDelivery;
  /** Environments written so far. */
  readonly written: Written[];
  readonly signal: AbortSignal | undefined;
}

/** Outcome of all, after commits are reported. @param done outcome of everything else */
async function reported(
  decided: readonly Decided[],
  done: WebhookDeliveryStatus,
  { delivery, ...context }: Processing,
): Promise<WebhookDeliveryStatus> {
  const reports = decided.map(({ decision }) => decision).filter(isReport);
  if (reports.length === 0) return done;
  const status = await reportCommits(reports, delivery, context);
  if (done.phase === "pending" || (status.phase === "acted" && done.phase === "acted")) return done;
  const { environments } = done;
  return { ...status, ...traceOf(decided), ...(environments !== undefined && { environments }) };
}

/** Decisions about an event for each of its Repositories: one write per environment. A simulation has no delivery. */
export async function decideAll(
  { event, host = "", repositories = [] }: Pick<WebhookDeliverySpec, "event" | "host" | "repositories">,
  { decide, decisionContext }: Pick<ProcessingContext, "decide" | "decisionContext">,
  delivery?: string,
): Promise<readonly Decided[]> {
  const decided: Decided[] = [];
  for (const name of repositories) {
    const repository = decisionContext.repositories.find(name);
    if (repository !== undefined)
      decided.push(...(await decide({ event, repository, host, delivery }, decisionContext)));
  }
  return inOneWrite(decided);
}

function outcome(decided: readonly Decided[], { delivery, written, decisionContext }: Processing) {
  const decisions = decided.map(({ decision }) => decision);
  const more = { ...traceOf(decided), ...environmentsOf(written) };
  const wait = decisions.find((decision) => decision.do === "wait");
  if (wait !== undefined) {
    const waiting = { ...more, ...waitsSince(delivery, decisionContext.clock) };
    return deliveryStatus("pending", wait.reason, wait.message, waiting);
  }
  if (written.length > 0) {
    return deliveryStatus("acted", decisions.find(isWriteDecision)?.reason ?? "Done", sentenceOf(written), more);
  }
  const nothing = decisions.find((decision) => decision.do === "nothing");
  if (nothing !== undefined) return deliveryStatus("ignored", nothing.reason, nothing.message, more);
  return deliveryStatus("ignored", "RepositoryGone", "its repository is no longer registered");
}

/** Names no environments, which readers may not see: they are in the outcome's `environments`. */
function sentenceOf(written: readonly Written[]): string {
  const actions = [...new Set(written.map(({ action }) => action))].join(" or ");
  return written.length === 1 ? `the environment is ${actions}` : `${written.length} environments are ${actions}`;
}

/** Acts one by one; answers the name of the first changed environment, or the reason to stop. */
async function actOnEach(
  decisions: readonly WriteDecision[],
  processing: Processing,
): Promise<string | WebhookDeliveryStatus | undefined> {
  const { audit, written, signal } = processing;
  for (const decision of decisions) {
    signal?.throwIfAborted();
    // Like privileged changes of the REST interface: an unrecordable action is not done.
    if (!(await audit.isKept())) return AUDIT_UNAVAILABLE;
    try {
      const result = await act(decision, processing);
      if (result === "changed") return targetOf(decision);
      written.push(result);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return deliveryStatus(phaseOf(error), REFUSED, `the environment: ${error.message}`);
    }
  }
  return undefined;
}

/** True for a refusal by the API server, in contrast to its failure. */
const isRefusal = (error: unknown): error is Error =>
  error instanceof ConfigInvalid || error instanceof CreationFailed || error instanceof EnvironmentConflict;

/** Rights and policies may just be changing, as in an upgrade; others would be refused again. */
const phaseOf = (refusal: Error) =>
  refusal instanceof CreationFailed || refusal instanceof RemovalRefused ? "pending" : "failed";

/** Context with freshly read environments, ahead of the watch. */
function withFresh(context: DecisionContext, fresh: ReadonlyMap<string, EphemeralEnvironment | undefined>) {
  const { environments } = context;
  const find = (name: string) => (fresh.has(name) ? fresh.get(name) : environments.find(name));
  const ofRepository = (repository: string) =>
    environments.ofRepository(repository).flatMap(({ metadata }) => find(metadata.name) ?? []);
  return { ...context, environments: { ...environments, find, ofRepository } };
}

/** An outcome whose trace begins with earlier verdicts. */
export function withTrace(first: readonly RuleVerdict[], status: WebhookDeliveryStatus): WebhookDeliveryStatus {
  if (first.length === 0) return status;
  return { ...status, trace: [...first, ...(status.trace ?? [])].slice(0, MOST_VERDICTS) };
}

/** Each verdict once: several decisions may share a rule. */
function traceOf(decided: readonly Decided[]): { trace?: RuleVerdict[] } {
  const trace = [...new Set(decided.flatMap((one) => one.trace))].slice(0, MOST_VERDICTS);
  return trace.length === 0 ? {} : { trace };
}

function environmentsOf(written: readonly Written[]): { environments?: Written[] } {
  return written.length === 0 ? {} : { environments: written.slice(0, MOST_ENVIRONMENTS) };
}

/**
 * Merges decisions into one write per environment: a monorepo's environment has two components of one repository, and
 * its event is decided for each. A deletion replaces an update.
 */
function inOneWrite(decided: readonly Decided[]): readonly Decided[] {
  const keyOf = (one: Decided) => (isChange(one.decision) ? one.decision.environment.metadata.name : one);
  return [...Map.groupBy(decided, keyOf).values()].map((group) => group.reduce(joined));
}

function joined(one: Decided, other: Decided): Decided {
  const [first, second] = [one.decision, other.decision] as [ChangeDecision, ChangeDecision];
  const trace = [...one.trace, ...other.trace];
  if (first.do === "delete") return { ...one, trace };
  if (second.do === "delete") return { ...other, trace };
  const annotations = { ...first.annotations, ...second.annotations };
  return { decision: { ...first, spec: { ...first.spec, ...second.spec }, annotations }, trace };
}

/** A decision carried out by one write. */
type WriteDecision = Extract<Decision, { readonly do: "create" | "update" | "delete" }>;
type ChangeDecision = Extract<Decision, { readonly do: "update" | "delete" }>;
/** A written environment, with the action. */
type Written = NonNullable<WebhookDeliveryStatus["environments"]>[number];

const ACTIONS = { create: "created", update: "updated", delete: "deleted" } as const;

export const isWriteDecision = (decision: Decision): decision is WriteDecision => decision.do in ACTIONS;

const isChange = (decision: Decision): decision is ChangeDecision =>
  isWriteDecision(decision) && decision.do !== "create";

/** Name of the environment. */
export const targetOf = (decision: WriteDecision): string =>
  decision.do === "create" ? decision.name : decision.environment.metadata.name;

/** Writes once (twice for a deletion with annotations), and records it; "changed" when the decision's basis has. */
async function act(decision: WriteDecision, { writes, audit, newId, delivery }: Processing) {
  const auditId = newId();
  const environment = await write(decision, auditId, writes);
  if (environment === "changed") return "changed";
  const { name, uid } = environment.metadata;
  const { pullRequest, approval } = delivery.spec.event;
  const login = pullRequest?.login ?? approval?.by;
  await audit.add({
    auditId,
    event: "change",
    action: `webhook ${decision.do}`,
    actor: { method: "webhook", delivery: delivery.metadata.name, ...present({ login }) },
    target: name,
    reason: decision.reason,
    objects: [{ name, uid }],
    outcome: "accepted",
  });
  return { name, uid, action: ACTIONS[decision.do] };
}

async function write(decision: WriteDecision, auditId: string, writes: DecidedWrites) {
  if (decision.do === "create") return writes.create(decision.name, decision.spec, auditId, decision.annotations);
  const { environment, annotations = {} } = decision;
  if (decision.do === "update") return writes.revise(environment, decision.spec, auditId, annotations);
  const has = environment.metadata.annotations ?? {};
  const isAnnotated = Object.entries(annotations).every(([name, value]) => has[name] === value);
  const annotated = isAnnotated ? environment : await writes.revise(environment, {}, auditId, annotations);
  return annotated === "changed" || (await writes.remove(annotated)) === "changed" ? "changed" : annotated;
}
