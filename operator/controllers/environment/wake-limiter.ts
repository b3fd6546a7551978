import type { Settings } from "../../../config/settings.ts";
import { findCondition } from "../../../crds/conditions.ts";
import { MINUTE_MS } from "../../../crds/durations.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { isAsleep, wakeDueAt } from "../../../crds/environment/sleep.ts";
import type { SleepStatus } from "../../../crds/sleep.schema.ts";
import type { Enqueue } from "../../kit/controller/controller.ts";
import { type CancelTimer, type Clock, elapsedMs } from "../../kit/time/clock.ts";

/** An environment that waits for a place among those that wake. */
export interface Waiting {
  readonly uid: string;
  readonly name: string;
  /** Name of the backend Repository. */
  readonly repository: string;
  /** Time of the request, or of the begin of its hours, whichever was first. */
  readonly dueMs: number;
}

/**
 * The next to wake, at most `places`: each of the Repository with the fewest that wake, and of those the one that has been
 * due for longest.
 *
 * @param waking Repositories of those that wake, one for each
 */
export function nextToWake(waiting: readonly Waiting[], waking: readonly string[], places: number): readonly Waiting[] {
  const before = new Map<string, number>();
  const countOf = (repository: string) => before.get(repository) ?? 0;
  const taken = (repository: string) => before.set(repository, countOf(repository) + 1);
  for (const repository of waking) taken(repository);
  const ranked = waiting.toSorted(dueFirst).map((one) => {
    const rank = countOf(one.repository);
    taken(one.repository);
    return { one, rank };
  });
  const inOrder = ranked.toSorted((a, b) => a.rank - b.rank || dueFirst(a.one, b.one));
  return inOrder.slice(0, Math.max(0, places)).map(({ one }) => one);
}

function dueFirst(one: Waiting, other: Waiting): number {
  return one.dueMs - other.dueMs || (one.uid < other.uid ? -1 : 1);
}

interface WakeLimiterContext {
  readonly settings: Settings;
  readonly clock: Clock;
  /** The environment from this process's cache, by name. */
  readonly environment: (name: string) => EphemeralEnvironment | undefined;
  /** Environments whose state of sleep is `waking`. */
  readonly waking: () => readonly EphemeralEnvironment[];
}

/** Time within which a free place is given away. */
const LOOK_EVERY_MS = 1_000;
/** An environment that was given a place and does not wake loses it then. */
const GRANTED_MS = MINUTE_MS;

interface Grant extends Waiting {
  readonly untilMs: number;
}

/**
 * Bounds how many environments wake at once, fairly between Repositories.
 *
 * In memory is only who waits, each entered by its own reconcile, and who was just let go: who wakes says its status. So
 * a new leader knows all after its first reconciles.
 */
export class WakeLimiter {
  readonly #context: WakeLimiterContext;
  readonly #waiting = new Map<string, Waiting>();
  /** Environments that may wake, and whose status does not say yet that they do. */
  readonly #granted = new Map<string, Grant>();
  #enqueue: Enqueue | undefined;
  #cancelLook: CancelTimer | undefined;

  constructor(context: WakeLimiterContext) {
    this.#context = context;
  }

  /** Enqueues an environment that waited, at its turn; returns the function that ends that, and forgets all. */
  watch(enqueue: Enqueue): () => void {
    this.#enqueue = enqueue;
    return () => {
      this.#cancelLook?.();
      this.#cancelLook = undefined;
      this.#enqueue = undefined;
      this.#waiting.clear();
      this.#granted.clear();
    };
  }

  /**
   * True when the environment may go to this next state of its sleep; else it has to stay asleep, and is enqueued at its
   * turn. Call it with every state that follows on sleep. A person's wake never waits.
   */
  mayFollow(environment: EphemeralEnvironment, next: SleepStatus | undefined): boolean {
    const { uid } = environment.metadata;
    if (next?.state !== "waking" || next.cause === "person") {
      this.#waiting.delete(uid);
      this.#granted.delete(uid);
      return true;
    }
    if (this.#grantOf(uid) !== undefined) return true;
    this.#waiting.set(uid, this.#waiting.get(uid) ?? this.#waitingOf(environment));
    // Many have the same hours: the first reconciles must not take all places.
    if (next.cause === "request") this.#letGo();
    this.#lookLater();
    return this.#grantOf(uid) !== undefined;
  }

  #waitingOf(environment: EphemeralEnvironment): Waiting {
    const { metadata, spec } = environment;
    const now = this.#context.clock.now();
    // A changed wish wakes what nothing was due for; another machine's clock may be ahead of this one.
    const dueMs = Math.min(now.getTime(), (wakeDueAt(environment, now) ?? now).getTime());
    return { uid: metadata.uid, name: metadata.name, repository: spec.backend.repository, dueMs };
  }

  #lookLater(): void {
    if (this.#cancelLook !== undefined || this.#waiting.size === 0) return;
    this.#cancelLook = this.#context.clock.setTimer(LOOK_EVERY_MS, () => {
      this.#cancelLook = undefined;
      this.#letGo();
      this.#lookLater();
    });
  }

  /** Gives free places to the next, and enqueues them. */
  #letGo(): void {
    const { settings, clock } = this.#context;
    const taken = this.#taken();
    const places = settings.reconcile.wakesAtOnce - taken.length;
    if (places <= 0) return;
    for (const waiting of this.#waiting.values()) if (!this.#isAsleep(waiting)) this.#waiting.delete(waiting.uid);
    for (const next of nextToWake([...this.#waiting.values()], taken, places)) {
      this.#waiting.delete(next.uid);
      this.#granted.set(next.uid, { ...next, untilMs: clock.monotonicMs() + GRANTED_MS });
      this.#enqueue?.(next.name);
    }
  }

  /** Repositories of those that have a place, one for each. */
  #taken(): readonly string[] {
    const waking = this.#context.waking().filter((environment) => this.#hasPlace(environment));
    const granted = [...this.#granted.keys()].flatMap((uid) => this.#grantOf(uid) ?? []);
    return [...waking.map(({ spec }) => spec.backend.repository), ...granted.map(({ repository }) => repository)];
  }

  /** A wake that failed, or takes longer than an update may, leaves its place to others. */
  #hasPlace({ metadata, spec, status }: EphemeralEnvironment): boolean {
    const { settings, clock } = this.#context;
    const isFailed = findCondition(status?.conditions, "Ready")?.status === "False";
    if (isFailed || spec.suspended || metadata.deletionTimestamp !== undefined) return false;
    return (
      elapsedMs(new Date(status?.sleep?.since ?? ""), clock.now()) <
      settings.reconcile.creationDeadlineMinutes * MINUTE_MS
    );
  }

  /** The grant of one that has not used it yet; one that is over, or that its status has taken the place of, is forgotten. */
  #grantOf(uid: string): Grant | undefined {
    const grant = this.#granted.get(uid);
    if (grant === undefined) return undefined;
    if (grant.untilMs > this.#context.clock.monotonicMs() && this.#isAsleep(grant)) return grant;
    this.#granted.delete(uid);
    return undefined;
  }

  #isAsleep({ uid, name }: Waiting): boolean {
    const found = this.#context.environment(name);
    if (found?.metadata.uid !== uid || found.metadata.deletionTimestamp !== undefined) return false;
    return isAsleep(found) && !found.spec.suspended;
  }
}
