import type { Settings } from "../../../config/settings.ts";
import { type Condition, findCondition, transition, withCondition } from "../../../crds/conditions.ts";
import { fullNameOf, type Repository } from "../../../crds/repository/repository.ts";
import type { HookAlert } from "../../announcements/hook-alert.ts";
import type { ControllerPorts } from "../../controller-ports.ts";
import type { Reconcile, ReconcileResult } from "../../kit/controller/controller.ts";
import { equalJson } from "../../kit/equal-json.ts";
import type { Examination } from "../../ports/facade/hook-doctor.ts";
import { PullRequestHostFailed } from "../../ports/webhooks/pull-request-host.ts";
import { conditionOf, WEBHOOK_ACTIVE } from "./condition.ts";
import { type ExamineContext, examine } from "./examine.ts";

export interface HookContext
  extends ExamineContext,
    Pick<ControllerPorts, "repositories" | "repositoryStatusWriter" | "clock" | "log"> {
  readonly settings: Settings;
  readonly alertOfHook: HookAlert;
}

/** Until a host that could not be asked, or would not go on, is asked again. */
const RETRY_MS = 300_000;
/** Until a hook that its host goes on with is looked at again. */
const RESUMED_MS = 10_000;

/**
 * The reconcile of a Repository's hook: stores the condition `WebhookActive`, tells people when it breaks, and has the host
 * go on with a hook that it paused. Hooks are examined when the operator starts and after each check of their Repository.
 */
export function createHookReconciler(context: HookContext): Reconcile {
  return async (name, { signal }) => {
    const repository = context.repositories.find(name);
    if (repository === undefined || repository.metadata.deletionTimestamp !== undefined) return;
    // Without a host the REST contract's own headers come from anywhere.
    if (repository.spec.host === undefined) return forget(repository, context);
    const examination = await examine(repository, context, signal);
    await note(repository, examination, context);
    return goOn(repository, examination, { context, signal });
  };
}

async function forget(repository: Repository, { repositoryStatusWriter }: HookContext): Promise<void> {
  const { status } = repository;
  if (findCondition(status?.conditions, WEBHOOK_ACTIVE) === undefined) return;
  const conditions = (status?.conditions ?? []).filter(({ type }) => type !== WEBHOOK_ACTIVE);
  await repositoryStatusWriter.writeStatus(repository, { ...status, conditions });
}

/** The message goes out first: after a crash between the two it is made once, because it is named by the former state. */
async function note({ metadata }: Repository, examination: Examination, context: HookContext): Promise<void> {
  // The calls may have lasted for seconds.
  const latest = context.repositories.find(metadata.name);
  if (latest?.metadata.uid !== metadata.uid) return;
  const former = findCondition(latest.status?.conditions, WEBHOOK_ACTIVE);
  const draft = { ...conditionOf(examination), observedGeneration: metadata.generation };
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

/** What worked and broke, perhaps while the host was away, and what the host paused; not what was never there. */
function isAlarming({ status, reason }: Condition, former: Condition | undefined): boolean {
  if (status !== "False" || former?.reason === reason) return false;
  return former?.status === "True" || former?.reason === "HostUnavailable" || reason === "HookPaused";
}

interface Going {
  readonly context: HookContext;
  readonly signal: AbortSignal;
}

async function goOn(
  repository: Repository,
  { host, hooks, problems }: Examination,
  { context, signal }: Going,
): Promise<ReconcileResult> {
  if (problems.some(({ reason }) => reason === "HostUnavailable")) return { requeueAfterMs: RETRY_MS };
  const paused = hooks.find(({ isHere, state }) => isHere && state === "paused");
  if (host === undefined || paused === undefined) return {};
  try {
    await context.hooks.resume({ host: host.id, fullName: fullNameOf(repository) }, paused.id, signal);
    return { requeueAfterMs: RESUMED_MS };
  } catch (error) {
    if (!(error instanceof PullRequestHostFailed)) throw error;
    const { name } = repository.metadata;
    context.log.warn("the host does not go on with a webhook", { repository: name, problem: error.message });
    return { requeueAfterMs: Math.max(RETRY_MS, error.retryAfterMs ?? 0) };
  }
}
