import { digestOf } from "../../../crds/digest.ts";
import { pullRequestKey } from "../../../crds/environment/environment-record.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { isProtected } from "../../../crds/environment/lifetime.ts";
import type { Repository } from "../../../crds/repository/repository.ts";
import type { ControllerPorts } from "../../controller-ports.ts";
import type { Reconcile, ReconcileResult } from "../../kit/controller/controller.ts";
import { eachOf } from "../../kit/time/each-of.ts";
import { type HostedRepository, PullRequestHostFailed } from "../../ports/webhooks/pull-request-host.ts";
import type { HostedPullRequest, PullRequestReader } from "../../ports/webhooks/pull-request-reader.ts";
import type { WebhookDeliveries } from "../../ports/webhooks/webhook-deliveries.ts";
import type { DecisionContext } from "../../webhooks/decision.ts";
import { hostedAt } from "../../webhooks/pull-request/doubt.ts";
import { withAction } from "../../webhooks/pull-request/inquiry.ts";
import { type KnownState, knownStates } from "../../webhooks/pull-request/newest-state.ts";
import { inquiryOf } from "../../webhooks/stored.ts";
import { type MissedStates, missedStates } from "./missed-states.ts";

export interface SweepContext extends Pick<ControllerPorts, "settings" | "repositories" | "log" | "random" | "clock"> {
  readonly pullRequestReader: PullRequestReader;
  readonly webhookDeliveries: Pick<WebhookDeliveries, "claim">;
  readonly world: DecisionContext;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** As long as GitHub keeps its log. An older pull request may have lost its environment long ago, and its record with it. */
const REMEMBERED_MS = 3 * DAY_MS;
/** Pull requests of a Repository that are asked for one by one, in one sweep. */
const MOST_ASKED = 200;
const ASKED_AT_ONCE = 4;
const FAILED_RECHECK_MS = 5 * MINUTE_MS;

/**
 * Asks the host of a Repository for pull requests whose webhooks were missed, at every start and then periodically. What is
 * found is stored as a delivery, which the controller of deliveries decides like any other. No environment is ended by what
 * a host does not say: see `missedStates`.
 */
export function createPullRequestSweep(context: SweepContext): Reconcile {
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
function placeOf(name: string, signal: AbortSignal, context: SweepContext): Place | undefined {
  const repository = context.repositories.find(name);
  const hosted = repository && hostedAt(repository, context);
  return repository && hosted && { repository, hosted, signal };
}

/** The next sweep: soon when something could not be asked for, never where the settings want one at the start alone. */
function afterwards(failed: number, { settings, random }: SweepContext): ReconcileResult {
  const everyMs = settings.webhooks.sweepMinutes * MINUTE_MS * (0.9 + 0.2 * random());
  if (failed > 0) return { requeueAfterMs: everyMs === 0 ? FAILED_RECHECK_MS : Math.min(FAILED_RECHECK_MS, everyMs) };
  return everyMs === 0 ? {} : { requeueAfterMs: everyMs };
}

/** A host may name the time of the next try; otherwise the controller backs off. */
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
async function sweep(place: Place, context: SweepContext): Promise<number> {
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
function environmentsOf({ repository, hosted }: Place, { world }: SweepContext): readonly EphemeralEnvironment[] {
  const { name } = repository.metadata;
  const isOwn = ({ metadata, spec: { trigger } }: EphemeralEnvironment) =>
    metadata.deletionTimestamp === undefined &&
    trigger?.kind === "pull_request" &&
    trigger.repository === name &&
    trigger.provider === hosted.host;
  return world.environments.ofRepository(name).filter(isOwn);
}

/** The numbers of their pull requests. */
const numbersOf = (environments: readonly EphemeralEnvironment[]): ReadonlySet<number> =>
  new Set(environments.flatMap(({ spec }) => spec.trigger?.number ?? []));

/** How many webhooks the host sends again. Without that the sweep finds the same, but not as soon. */
async function redeliver({ hosted, signal }: Place, context: SweepContext): Promise<number | undefined> {
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

/** Asks for each of them; one that fails costs no other. */
async function askEach(
  numbers: readonly number[],
  { hosted, signal }: Place,
  { pullRequestReader, log }: SweepContext,
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
  context: SweepContext & Place,
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
  { repository, hosted, world }: Pick<SweepContext, "world"> & Place,
): KnownState | undefined {
  const stored = world.deliveries.ofPullRequest(pullRequestKey(hosted.host, repository.metadata.name, number));
  const nothingAtHand = { event: { type: "other" }, delivery: undefined, host: hosted.host } as const;
  return knownStates(stored, nothingAtHand, world).at(-1);
}

/** Stores each state under a name of its own, so that two sweeps store it once; answers how many are new. */
async function store(states: readonly HostedPullRequest[], place: Place, context: SweepContext): Promise<number> {
  const { repository, signal } = place;
  let stored = 0;
  for (const state of states) {
    signal.throwIfAborted();
    const former = newestKnown(state.number, { ...context, ...place });
    const told = withAction(state, former?.state, repository.spec.pullRequest);
    const cause = digestOf([told, former?.receivedAtMs ?? null]);
    const { name, spec } = inquiryOf({ repository, state: told, cause }, context.clock.now());
    const claim = await context.webhookDeliveries.claim(name, spec);
    stored += claim.state === "claimed" ? 1 : 0;
  }
  return stored;
}
