import type { Settings } from "../../../config/settings.ts";
import {
  type Condition,
  type ConditionDraft,
  type ConditionType,
  clipped,
  findCondition,
  transition,
  withCondition,
} from "../../../crds/conditions.ts";
import { fullNameOf, type Repository, type RepositoryStatus } from "../../../crds/repository/repository.ts";
import type { HookAlert } from "../../announcements/announcer.ts";
import type { Reconcile, ReconcileResult } from "../../kit/controller/controller.ts";
import { equalJson } from "../../kit/equal-json.ts";
import type { Log } from "../../kit/log.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { HookCheck, HookProblem } from "../../ports/api/webhook-registrar.ts";
import type { StatusWriter } from "../../ports/cluster.ts";
import type { RepositoryFinder } from "../../ports/repositories.ts";
import type { SecretReader } from "../../ports/secret-manager.ts";
import { PullRequestHostFailed } from "../../ports/webhooks/pull-request-host.ts";
import type { RepositoryHooks } from "../../ports/webhooks/repository-hooks.ts";
import { checkHooks } from "./check.ts";

/** The settings and ports of the reconcile of webhook registrations. */
export interface WebhookRegistrationDependencies {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock: Clock;
  readonly secretManager: SecretReader;
  readonly repositories: RepositoryFinder;
  readonly repositoryStatusWriter: Pick<StatusWriter<Repository, RepositoryStatus>, "writeStatus">;
  readonly hooks: RepositoryHooks;
  readonly alertOfHook: HookAlert;
}

const RETRY_MS = 300_000;
const RESUMED_MS = 10_000;

/**
 * Reconcile of a Repository's hook: stores the condition `WebhookActive`, reports a failure to people, and resumes a
 * hook that its host paused. Hooks are checked at the operator's start and after each check of their Repository.
 */
export function createHookReconciler(context: WebhookRegistrationDependencies): Reconcile {
  return async (name, { signal }) => {
    const repository = context.repositories.find(name);
    if (repository === undefined || repository.metadata.deletionTimestamp !== undefined) return;
    // Without a host the REST contract's own headers may come from anywhere.
    if (repository.spec.host === undefined) return forget(repository, context);
    const check = await checkHooks(repository, context, signal);
    await store(repository, check, context);
    return resume(repository, check, { ...context, signal });
  };
}

async function forget(repository: Repository, context: WebhookRegistrationDependencies): Promise<void> {
  const { status } = repository;
  if (findCondition(status?.conditions, WEBHOOK_ACTIVE) === undefined) return;
  const conditions = (status?.conditions ?? []).filter(({ type }) => type !== WEBHOOK_ACTIVE);
  await context.repositoryStatusWriter.writeStatus(repository, { ...status, conditions });
}

/** The message goes out first: after a crash between the two it is made once, because it is named by the former state. */
async function store({ metadata }: Repository, check: HookCheck, context: WebhookRegistrationDependencies) {
  // The calls may have lasted for seconds.
  const latest = context.repositories.find(metadata.name);
  if (latest?.metadata.uid !== metadata.uid) return;
  const former = findCondition(latest.status?.conditions, WEBHOOK_ACTIVE);
  const draft = { ...conditionOf(check), observedGeneration: metadata.generation };
  const condition = transition(former, draft, context.clock.now());
  if (equalJson(former, condition)) return;
  if (isAlarming(condition, former)) {
    const { reason, message } = condition;
    context.log.warn("webhooks may not arrive", { repository: metadata.name, reason, problem: message });
    await context.alertOfHook(latest, condition, former);
  }
  const conditions = withCondition(latest.status?.conditions, condition);
  await context.repositoryStatusWriter.writeStatus(latest, { ...latest.status, conditions });
}

/** Failures of working hooks, perhaps during the host's absence, and paused hooks; not missing ones. */
function isAlarming({ status, reason }: Condition, former: Condition | undefined): boolean {
  if (status !== "False" || former?.reason === reason) return false;
  return former?.status === "True" || former?.reason === "HostUnavailable" || reason === "HookPaused";
}

/** Resumes a hook that its host paused. */
async function resume(
  repository: Repository,
  { host, hooks, problems }: HookCheck,
  context: WebhookRegistrationDependencies & { readonly signal: AbortSignal },
): Promise<ReconcileResult> {
  if (problems.some(({ reason }) => reason === "HostUnavailable")) return { requeueAfterMs: RETRY_MS };
  const paused = hooks.find(({ isHere, state }) => isHere && state === "paused");
  if (host === undefined || paused === undefined) return {};
  try {
    await context.hooks.resume({ host: host.id, fullName: fullNameOf(repository) }, paused.id, context.signal);
    return { requeueAfterMs: RESUMED_MS };
  } catch (error) {
    if (!(error instanceof PullRequestHostFailed)) throw error;
    const { name } = repository.metadata;
    context.log.warn("the host does not go on with a webhook", { repository: name, problem: error.message });
    return { requeueAfterMs: Math.max(RETRY_MS, error.retryAfterMs ?? 0) };
  }
}

const WEBHOOK_ACTIVE = "WebhookActive" satisfies ConditionType;

/** Reasons that leave the state unknown. */
const UNKNOWN: readonly HookProblem["reason"][] = [
  "HostUnknown",
  "TokenMissing",
  "AddressUnknown",
  "KeyUnreadable",
  "HostUnavailable",
  "HostRefused",
];
/** Reasons despite which events arrive. */
const HARMLESS: readonly HookProblem["reason"][] = ["HookRepeated"];

/** Condition of a check, without its generation: certain problems before unknown states. */
function conditionOf({ problems }: HookCheck): Omit<ConditionDraft, "observedGeneration"> {
  const grave = problems.filter(({ reason }) => !HARMLESS.includes(reason));
  const problem = grave.find(({ reason }) => !UNKNOWN.includes(reason)) ?? grave[0];
  if (problem === undefined) return { type: WEBHOOK_ACTIVE, status: "True", reason: "HookActive", message: "" };
  const { reason, message, remedy } = problem;
  const status = UNKNOWN.includes(reason) ? "Unknown" : "False";
  return { type: WEBHOOK_ACTIVE, status, reason, message: clipped(`${message}: ${remedy}`) };
}
