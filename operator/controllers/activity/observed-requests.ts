import { MINUTE_MS } from "../../../crds/durations.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { Activity } from "../../ports/activity.ts";

/** Counts of an environment since the former reading. */
export interface RequestCount {
  readonly uid: string;
  readonly requests: number;
  /** Requests among them that the platform's own prober sent. */
  readonly probes: number;
  /** Requests within the window that count as activity. */
  readonly minimum: number;
}

interface Observed {
  readonly observedSince: Date;
  readonly lastRequestAt?: Date | undefined;
  /** Requests by others within the window. */
  readonly window: readonly { readonly atMs: number; readonly requests: number }[];
  /** Probes of the last reading whose requests were not counted yet. */
  readonly uncountedProbes: number;
}

/** Time in which `minimum` requests are activity. */
const WINDOW_MS = 5 * MINUTE_MS;
/** Age of the last reading at which requests are no longer known. */
const STALE_MS = 3 * MINUTE_MS;

const NO_SOURCE = "the platform's setting `activity` names no source of requests, so nothing is idle";
const NO_READING = "the ingress has not said for minutes how many requests it passed on, so nothing is idle";

/** Requests to environments in this process's memory: a new leader observes anew, so nothing falls asleep early. */
export class ObservedRequests implements Activity {
  readonly #clock: Clock;
  readonly #hasSource: boolean;
  /** Time of the last reading, or else of the first use: a replica may have stood by for long. */
  #readMs: number | undefined;
  #hasRead = false;
  #environments: ReadonlyMap<string, Observed> = new Map();

  constructor({ clock, hasSource }: { readonly clock: Clock; readonly hasSource: boolean }) {
    this.#clock = clock;
    this.#hasSource = hasSource;
  }

  of({ metadata }: Pick<EphemeralEnvironment, "metadata">) {
    return this.#hasRead && !this.#isStale() ? this.#environments.get(metadata.uid) : undefined;
  }

  problem(): string | undefined {
    if (!this.#hasSource) return NO_SOURCE;
    return this.#isStale() ? NO_READING : undefined;
  }

  /** Records a reading; environments that it lacks are forgotten. */
  record(counts: readonly RequestCount[]): void {
    const now = this.#clock.now();
    this.#environments = new Map(
      counts.map((count) => [count.uid, next(this.#environments.get(count.uid), count, now)]),
    );
    this.#readMs = this.#clock.monotonicMs();
    this.#hasRead = true;
  }

  #isStale(): boolean {
    this.#readMs ??= this.#clock.monotonicMs();
    return this.#clock.monotonicMs() - this.#readMs > STALE_MS;
  }
}

function next(former: Observed | undefined, { requests, probes, minimum }: RequestCount, now: Date): Observed {
  // Counts of before the first observation are not known to be recent.
  if (former === undefined) return { observedSince: now, window: [], uncountedProbes: 0 };
  // A request may be counted after the reading that follows its probe, but one that never is must not hide another.
  const sent = probes + former.uncountedProbes;
  const byOthers = Math.max(0, requests - sent);
  const uncountedProbes = Math.min(probes, Math.max(0, sent - requests));
  const atMs = now.getTime();
  const window = [...former.window, { atMs, requests: byOthers }].filter((one) => atMs - one.atMs < WINDOW_MS);
  const inWindow = window.reduce((sum, one) => sum + one.requests, 0);
  const isActive = byOthers > 0 && inWindow >= minimum;
  return { ...former, window, uncountedProbes, ...(isActive && { lastRequestAt: now }) };
}
