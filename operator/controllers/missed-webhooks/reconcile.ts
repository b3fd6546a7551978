import type { Settings } from "../../../config/settings.ts";
import { digestOf } from "../../../crds/digest.ts";
import { DAY_MS, MINUTE_MS } from "../../../crds/durations.ts";
import { pullRequestKey } from "../../../crds/environment/environment-record.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { isProtected } from "../../../crds/environment/lifetime.ts";
import { hostedRepository, type Repository } from "../../../crds/repository/repository.ts";
import type { PullRequestRules } from "../../../crds/repository/webhook-rules.schema.ts";
import type { Reconcile, ReconcileResult } from "../../kit/controller/controller.ts";
import type { Log } from "../../kit/log.ts";
import { eachOf } from "../../kit/time/each-of.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Repositories } from "../../ports/repositories.ts";
import { type HostedRepository, PullRequestHostFailed } from "../../ports/webhooks/pull-request-host.ts";
import type { HostedPullRequest, PullRequestReader } from "../../ports/webhooks/pull-request-reader.ts";
import type { WebhookDeliveries } from "../../ports/webhooks/webhook-deliveries.ts";
import type { DecisionContext } from "../../webhooks/decision.ts";
import { type KnownState, knownStates } from "../../webhooks/pull-request/newest-state.ts";
import { withAction } from "../../webhooks/pull-request/refetch.ts";
import { differ } from "../../webhooks/pull-request/stale-state.ts";
import { isWanted } from "../../webhooks/pull-request/wanted.ts";
import { refetchedDelivery } from "../../webhooks/stored.ts";

/** The settings and ports of the search for missed webhooks. */
export interface MissedWebhookDependencies {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock: Clock;
  /** Uniform in [0, 1): spreads periodic work. */
  readonly random: () => number;
  readonly repositories: Pick<Repositories, "find">;
  readonly pullRequestReader: PullRequestReader;
  readonly webhookDeliveries: Pick<WebhookDeliveries, "claim">;
  /** The state that decisions are taken from. */
  readonly world: DecisionContext;
}

/** Retention of GitHub's log. An older pull request may have lost its environment and its record long ago. */
const REMEMBERED_MS = 3 * DAY_MS;
/** Limit on single fetches of a Repository's pull requests per sweep. */
const MOST_ASKED = 200;
const ASKED_AT_ONCE = 4;
const FAILED_RECHECK_MS = 5 * MINUTE_MS;

/**
 * Finds pull requests with missed webhooks on a Repository's host, at every start and then periodically. Findings are
 * stored as deliveries, like any other. A missing answer ends no environment: see `missedStates`.
 */
export function createMissedWebhookReconciler(context: MissedWebhookDependencies): Reconcile {
  return async (name, { signal }) => {
    const place = placeOf(name, signal, context);
    if (place === undefined) return {};
    try {
      return afterwards(await sweep(place, context), context);
    } catch (error) {
      return whenWanted(error);
    }
  };
}

/** `undefined` for a Repository that is gone, and for one whose host can't be asked. */
function placeOf(name: string, signal: AbortSignal, context: MissedWebhookDependencies): Place | undefined {
  const repository = context.repositories.find(name);
  const hosted = repository && hostedRepository(repository, context.settings);
  return repository && hosted && { repository, hosted, signal };
}

/** The next sweep: soon when something could not be asked for, never where the settings want one at the start alone. */
function afterwards(failed: number, { settings, random }: MissedWebhookDependencies): ReconcileResult {
  const everyMs = settings.webhooks.sweepMinutes * MINUTE_MS * (0.9 + 0.2 * random());
  if (failed > 0) return { requeueAfterMs: everyMs === 0 ? FAILED_RECHECK_MS : Math.min(FAILED_RECHECK_MS, everyMs) };
  return everyMs === 0 ? {} : { requeueAfterMs: everyMs };
}

/** A host may state the retry time; otherwise the controller backs off. */
function whenWanted(error: unknown): ReconcileResult {
  const retryAfterMs = error instanceof PullRequestHostFailed ? error.retryAfterMs : undefined;
  if (retryAfterMs === undefined) throw error;
  return { requeueAfterMs: retryAfterMs };
}

interface Place {
  readonly repository: Repository;
  readonly hosted: HostedRepository;
  readonly signal: AbortSignal;
}

/** Answers how many pull requests could not be asked for. */
async function sweep(place: Place, context: MissedWebhookDependencies): Promise<number> {
  const { repository, hosted, signal } = place;
  const { pullRequestReader, log } = context;
  const own = environmentsOf(place, context);
  const environments = numbersOf(own);
  if (!repository.spec.pullRequest?.enabled && environments.size === 0) return 0;
  const redelivered = await redeliver(place, context);
  const open = await pullRequestReader.openPullRequests(hosted, signal);
  const listed = new Set(open.map(({ number }) => number));
  const unlisted = [...environments].filter((number) => !listed.has(number));
  const { answers, failed } = await askEach(unlisted.slice(0, MOST_ASKED), place, context);
  const missed = survey([...open, ...answers], own, { ...context, ...place });
  const stored = await store(missed.states, place, context);
  const { name } = repository.metadata;
  const counts = { open: open.length, unlisted: unlisted.length, failed, missed: stored, redelivered };
  log.info("a host was asked for missed pull requests", { repository: name, ...counts });
  if (missed.implausible > 0) {
    const facts = { repository: name, environments: environments.size, ends: missed.implausible };
    log.error("a host says that most pull requests have ended: their environments stay until their TTL is over", facts);
  }
  return failed + Math.max(0, unlisted.length - MOST_ASKED);
}

/** The environments of the Repository's pull requests. */
function environmentsOf(
  { repository, hosted }: Place,
  { world }: MissedWebhookDependencies,
): readonly EphemeralEnvironment[] {
  const { name } = repository.metadata;
  const isOwn = ({ metadata, spec: { trigger } }: EphemeralEnvironment) =>
    metadata.deletionTimestamp === undefined &&
    trigger?.kind === "pull_request" &&
    trigger.repository === name &&
    trigger.provider === hosted.host;
  return world.environments.ofRepository(name).filter(isOwn);
}

const numbersOf = (environments: readonly EphemeralEnvironment[]): ReadonlySet<number> =>
  new Set(environments.flatMap(({ spec }) => spec.trigger?.number ?? []));

/** Number of webhooks that the host sends again. Without them the sweep finds the same, but not as soon. */
async function redeliver({ hosted, signal }: Place, context: MissedWebhookDependencies): Promise<number | undefined> {
  const { pullRequestReader, settings, clock, log } = context;
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
async function askEach(
  numbers: readonly number[],
  { hosted, signal }: Place,
  { pullRequestReader, log }: MissedWebhookDependencies,
) {
  let failed = 0;
  const answers = await eachOf(ASKED_AT_ONCE, numbers, async (number) => {
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

function survey(
  answers: readonly HostedPullRequest[],
  own: readonly EphemeralEnvironment[],
  context: MissedWebhookDependencies & Place,
): MissedStates {
  const { repository, clock } = context;
  const known = (number: number) => newestKnown(number, context);
  const registeredMs = Date.parse(repository.metadata.creationTimestamp);
  const createsSince = new Date(Math.max(registeredMs, clock.now().getTime() - REMEMBERED_MS));
  const protectedOnes = numbersOf(own.filter(isProtected));
  const rules = repository.spec.pullRequest ?? {};
  return missedStates({ rules, answers, known, environments: numbersOf(own), protectedOnes, createsSince });
}

function newestKnown(
  number: number,
  { repository, hosted, world }: Pick<MissedWebhookDependencies, "world"> & Place,
): KnownState | undefined {
  const stored = world.deliveries.ofPullRequest(pullRequestKey(hosted.host, repository.metadata.name, number));
  const noEvent = { event: { type: "other" }, delivery: undefined, host: hosted.host } as const;
  return knownStates(stored, noEvent, world).at(-1);
}

/** Stores each state under a name of its own, so that two sweeps store it once; answers how many are new. */
async function store(
  states: readonly HostedPullRequest[],
  place: Place,
  context: MissedWebhookDependencies,
): Promise<number> {
  const { repository, signal } = place;
  let stored = 0;
  for (const state of states) {
    signal.throwIfAborted();
    const former = newestKnown(state.number, { ...context, ...place });
    const told = withAction(state, former?.state, repository.spec.pullRequest);
    const cause = digestOf([told, former?.receivedAtMs ?? null]);
    const { name, spec } = refetchedDelivery({ repository, state: told, cause }, context.clock.now());
    const claim = await context.webhookDeliveries.claim(name, spec);
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

/** States that no webhook has reported. */
interface MissedStates {
  readonly states: readonly HostedPullRequest[];
  /** Count of disbelieved answers that would have ended environments. */
  readonly implausible: number;
}

/**
 * Limit on environments that one survey may end, if more than half of the Repository's: a host restored from an old
 * copy answers so. Such environments end by a webhook, a user or their TTL.
 */
export const IMPLAUSIBLE_ENDS = { moreThan: 5, share: 0.5 } as const;

/**
 * Missed states: those that differ from the newest known one, and known ends with an existing environment. Only
 * definite, newer answers count: a pull request missing in a list or not fetched changes nothing.
 */
export function missedStates(survey: Survey): MissedStates {
  const { answers, environments, rules } = survey;
  const byNumber = new Map(answers.map((answer) => [answer.number, answer]));
  const missed = [...byNumber.values()].filter((answer) => isMissed(answer, survey));
  const isEnd = (answer: HostedPullRequest) => environments.has(answer.number) && !isWanted(answer, rules);
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
    return answer.state === "closed" && isLeft && !isWanted(answer, rules);
  }
  if (environments.has(answer.number)) return true;
  return answer.state === "open" && atMs !== undefined && atMs >= createsSince.getTime();
}
