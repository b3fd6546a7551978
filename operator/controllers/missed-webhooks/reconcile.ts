import type { Settings } from "../../../config/settings.ts";
import { digestOf } from "../../../crds/digest.ts";
import { DAY_MS, MINUTE_MS } from "../../../crds/durations.ts";
import { pullRequestKey } from "../../../crds/environment/environment-record.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { isProtected } from "../../../crds/environment/lifetime.ts";
import { hostedRepository, isRenamed, type Repository } from "../../../crds/repository/repository.ts";
import type { PullRequestRules } from "../../../crds/repository/webhook-rules.schema.ts";
import type { Reconcile, ReconcileResult } from "../../kit/controller/controller.ts";
import type { Log } from "../../kit/log.ts";
import type { Clock } from "../../kit/time/clock.ts";
import { eachOf } from "../../kit/time/each-of.ts";
import type { RepositoryFinder } from "../../ports/repositories.ts";
import {
  type HostedPullRequest,
  type HostedRepository,
  PullRequestHostFailed,
  type PullRequestReader,
} from "../../ports/webhooks/pull-request-host.ts";
import type { WebhookDeliveries } from "../../ports/webhooks/webhook-deliveries.ts";
import type { DecisionContext } from "../../webhooks/decision.ts";
import { isIncluded } from "../../webhooks/pull-request/rules.ts";
import { differ, type KnownState, storedStates, withAction } from "../../webhooks/pull-request/states.ts";
import { refetchedDelivery } from "../../webhooks/stored.ts";

/** The settings and ports of the search for missed webhooks. */
export interface MissedWebhookDependencies {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock: Clock;
  /** Uniform in [0, 1): spreads periodic work. */
  readonly random: () => number;
  readonly repositories: RepositoryFinder;
  readonly pullRequestReader: PullRequestReader;
  readonly webhookDeliveries: Pick<WebhookDeliveries, "claim">;
  /** The state that decisions are taken from. */
  readonly decisionContext: DecisionContext;
}

/** Retention of GitHub's log. An older pull request may have lost its environment and its record long ago. */
const REMEMBERED_MS = 3 * DAY_MS;
/** Limit on single fetches of a Repository's pull requests per sweep. */
const MOST_FETCHED = 200;
const FETCHED_AT_ONCE = 4;
const FAILED_RECHECK_MS = 5 * MINUTE_MS;

/**
 * Finds pull requests with missed webhooks on a Repository's host, at every start and then periodically. Findings are
 * stored as deliveries, like any other. A missing answer ends no environment: see `missedStates`.
 */
export function createMissedWebhookReconciler(context: MissedWebhookDependencies): Reconcile {
  const fetched = new Map<string, number>();
  return async (name, { signal }) => {
    const repository = context.repositories.find(name);
    const hosted = repository && hostedRepository(repository, context.settings);
    if (repository === undefined || hosted === undefined) return {};
    try {
      return nextSweep(await sweep({ ...context, repository, hosted, signal, fetched }), context);
    } catch (error) {
      return retryOfSweep(error);
    }
  };
}

/** Soon when a fetch failed; never where the settings want a sweep at the start alone. */
function nextSweep(failed: number, { settings, random }: MissedWebhookDependencies): ReconcileResult {
  const everyMs = settings.webhooks.sweepMinutes * MINUTE_MS * (0.9 + 0.2 * random());
  if (failed > 0) return { requeueAfterMs: everyMs === 0 ? FAILED_RECHECK_MS : Math.min(FAILED_RECHECK_MS, everyMs) };
  return everyMs === 0 ? {} : { requeueAfterMs: everyMs };
}

/** A host may state the retry time; otherwise the controller backs off. */
function retryOfSweep(error: unknown): ReconcileResult {
  const retryAfterMs = error instanceof PullRequestHostFailed ? error.retryAfterMs : undefined;
  if (retryAfterMs === undefined) throw error;
  return { requeueAfterMs: retryAfterMs };
}

interface Sweep extends MissedWebhookDependencies {
  readonly repository: Repository;
  readonly hosted: HostedRepository;
  readonly signal: AbortSignal;
  /** Highest number that was fetched in this round, by the Repository's UID; absent between rounds. */
  readonly fetched: Map<string, number>;
}

/** Answers how many pull requests could not be fetched. */
async function sweep(context: Sweep): Promise<number> {
  const { repository, hosted, signal, pullRequestReader, log } = context;
  const own = environmentsOf(context);
  const environments = numbersOf(own);
  if (!repository.spec.pullRequest?.enabled && environments.size === 0) return 0;
  if (isRenamed(repository)) {
    log.warn("a Repository with a former name is not swept", { repository: repository.metadata.name });
    return 0;
  }
  const redelivered = await redeliver(context);
  const open = await pullRequestReader.openPullRequests(hosted, signal);
  const listed = new Set(open.map(({ number }) => number));
  const unlisted = [...environments].filter((number) => !listed.has(number));
  const { numbers, left } = turnOf(unlisted, context);
  const { answers, failed } = await fetchEach(numbers, context);
  const missed = missedStates(surveyOf([...open, ...answers], own, context));
  const stored = await store(missed.states, context);
  const { name } = repository.metadata;
  const counts = { open: open.length, unlisted: unlisted.length, failed, missed: stored, redelivered };
  log.info("a host was asked for missed pull requests", { repository: name, ...counts });
  if (missed.implausible > 0) {
    const facts = { repository: name, environments: environments.size, ends: missed.implausible };
    log.error("a host says that most pull requests have ended: their environments stay until their TTL is over", facts);
  }
  return failed + left;
}

/** Takes the next that one sweep may fetch, and says how many are left for the next sweeps. */
function turnOf(numbers: readonly number[], { repository, fetched }: Sweep) {
  const { uid } = repository.metadata;
  const from = fetched.get(uid) ?? 0;
  const inOrder = numbers.toSorted((one, other) => one - other).filter((number) => number > from);
  const turn = inOrder.slice(0, MOST_FETCHED);
  const left = inOrder.length - turn.length;
  const last = turn.at(-1);
  if (left > 0 && last !== undefined) fetched.set(uid, last);
  else fetched.delete(uid);
  return { numbers: turn, left };
}

function environmentsOf({ repository, hosted, decisionContext }: Sweep): readonly EphemeralEnvironment[] {
  const { name } = repository.metadata;
  return decisionContext.environments.ofRepository(name).filter(({ metadata, spec: { trigger } }) => {
    const isOfRepository = trigger?.repository === name && trigger.provider === hosted.host;
    return metadata.deletionTimestamp === undefined && trigger?.kind === "pull_request" && isOfRepository;
  });
}

const numbersOf = (environments: readonly EphemeralEnvironment[]): ReadonlySet<number> =>
  new Set(environments.flatMap(({ spec }) => spec.trigger?.number ?? []));

/** Number of webhooks that the host sends again. Without them the sweep finds the same, but not as soon. */
async function redeliver(context: Sweep): Promise<number | undefined> {
  const { hosted, signal, pullRequestReader, settings, clock, log } = context;
  if (settings.publicUrl === undefined) return undefined;
  const address = `${settings.publicUrl.replace(/\/+$/, "")}/api/webhooks/`;
  const since = new Date(clock.now().getTime() - REMEMBERED_MS);
  return pullRequestReader.redeliver(hosted, { address, since }, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    log.warn("a host could not be asked to deliver webhooks again", { host: hosted.host, error });
    return undefined;
  });
}

/** Fetches each; a failure affects no other. */
async function fetchEach(numbers: readonly number[], { hosted, signal, pullRequestReader, log }: Sweep) {
  let failed = 0;
  const answers = await eachOf(FETCHED_AT_ONCE, numbers, async (number) => {
    try {
      return await pullRequestReader.pullRequest(hosted, number, signal);
    } catch (error) {
      signal.throwIfAborted();
      failed += 1;
      log.warn("a pull request could not be asked for", { ...hosted, number, error });
      return undefined;
    }
  });
  return { answers: answers.filter((answer) => answer !== undefined), failed };
}

function surveyOf(answers: readonly HostedPullRequest[], own: readonly EphemeralEnvironment[], context: Sweep): Survey {
  const { repository, clock } = context;
  const registeredMs = Date.parse(repository.metadata.creationTimestamp);
  return {
    rules: repository.spec.pullRequest ?? {},
    answers,
    known: (number) => newestKnown(number, context),
    environments: numbersOf(own),
    protectedOnes: numbersOf(own.filter(isProtected)),
    createsSince: new Date(Math.max(registeredMs, clock.now().getTime() - REMEMBERED_MS)),
  };
}

function newestKnown(number: number, { repository, hosted, decisionContext }: Sweep): KnownState | undefined {
  const key = pullRequestKey(hosted.host, repository.metadata.name, number);
  return storedStates(decisionContext.deliveries.ofPullRequest(key), hosted.host, decisionContext).at(-1);
}

/** Stores each state under a name of its own, so that two sweeps store it once; answers how many are new. */
async function store(states: readonly HostedPullRequest[], context: Sweep): Promise<number> {
  const { repository, signal, webhookDeliveries, clock } = context;
  let stored = 0;
  for (const answer of states) {
    signal.throwIfAborted();
    const former = newestKnown(answer.number, context);
    const state = withAction(answer, former?.state, repository.spec.pullRequest);
    const cause = digestOf([state, former?.receivedAtMs ?? null]);
    const { name, spec } = refetchedDelivery({ repository, state, cause }, clock.now());
    const claim = await webhookDeliveries.claim(name, spec);
    stored += claim.state === "claimed" ? 1 : 0;
  }
  return stored;
}

/** A host's pull requests of a Repository, with the known states. */
export interface Survey {
  readonly rules: PullRequestRules;
  /** Open ones, and those fetched singly. Failed fetches are missing. */
  readonly answers: readonly HostedPullRequest[];
  readonly known: (number: number) => KnownState | undefined;
  readonly environments: ReadonlySet<number>;
  /** Numbers with a protected environment, which stays in any case. */
  readonly protectedOnes: ReadonlySet<number>;
  /** Pull requests without a change since get no environment from a survey. */
  readonly createsSince: Date;
}

/**
 * Limit on environments that one survey may end, if more than half of the Repository's: a host restored from an old
 * copy answers so. Such environments end by a webhook, a user or their TTL.
 */
export const IMPLAUSIBLE_ENDS = { moreThan: 5, share: 0.5 } as const;

/**
 * Missed states: those that differ from the newest known one, and known ends with an existing environment. Only
 * definite, newer answers count: a pull request missing in a list or not fetched changes nothing. `implausible` counts
 * disbelieved answers that would have ended environments.
 */
export function missedStates(survey: Survey) {
  const { answers, environments, rules } = survey;
  const byNumber = new Map(answers.map((answer) => [answer.number, answer]));
  const missed = [...byNumber.values()].filter((answer) => isMissed(answer, survey));
  const isEnd = (answer: HostedPullRequest) => environments.has(answer.number) && !isIncluded(answer, rules);
  const ends = missed.filter(isEnd).length;
  const isPlausible = ends <= Math.max(IMPLAUSIBLE_ENDS.moreThan, environments.size * IMPLAUSIBLE_ENDS.share);
  if (isPlausible) return { states: missed, implausible: 0 };
  return { states: missed.filter((answer) => !isEnd(answer)), implausible: ends };
}

function isMissed(answer: HostedPullRequest, survey: Survey): boolean {
  const { rules, known, environments, protectedOnes, createsSince } = survey;
  const former = known(answer.number);
  const atMs = answer.updatedAt === undefined ? undefined : Date.parse(answer.updatedAt);
  if (former !== undefined && atMs !== undefined && atMs < former.atMs) return false;
  if (former !== undefined && !differ(former.state, answer, rules)) {
    const isLeft = environments.has(answer.number) && !protectedOnes.has(answer.number);
    return answer.state === "closed" && isLeft && !isIncluded(answer, rules);
  }
  if (environments.has(answer.number)) return true;
  return answer.state === "open" && atMs !== undefined && atMs >= createsSince.getTime();
}
