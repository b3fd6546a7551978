import { insteadOf, isAlreadyExists, isConflict } from "../client/errors.ts";
import type { WriteGuard } from "../client/exchange.ts";
import { leaseKind } from "../client/kinds.ts";
import type { KubeClient } from "../client/kube-client.ts";
import { type KubeObject, type ObjectRef, resourceType } from "../client/objects.ts";
import { equalJson } from "../equal-json.ts";
import type { Log } from "../log.ts";
import { type CancelTimer, type Clock, pause, systemClock } from "../time/clock.ts";
import { within } from "../time/deadline.ts";

/** End of a term: `lost` allows no more work; `stopping` lets running work finish. */
export type TermEnd = "lost" | "stopping";

/** Callbacks of a candidate. */
interface Leadership {
  /**
   * Work of a leader: ends soon after `signal` aborts with a TermEnd. After `stopping` the lease is renewed until this
   * resolves, then released.
   */
  onStartedLeading(signal: AbortSignal): Promise<void>;
  /** Called once, after `lost` at once, so that the process can bound its exit. */
  onStoppedLeading?(end: TermEnd): void;
}

/** End of a candidacy. After `lost` the process should exit: its work in flight can't be trusted. */
type CandidacyEnd = "lost" | "released" | "never-led";

const PERIODS = {
  /** A follower takes over after this long without a change. */
  leaseMs: 15_000,
  /** A leader gives up after this long without a renewal; shorter than `leaseMs`. */
  renewDeadlineMs: 10_000,
  /** Pause between a leader's renewals, up to a fifth longer. */
  retryMs: 2_000,
  /** Pause between a follower's reads of the lease, up to a fifth longer: a released lease stays free for that long. */
  checkMs: 500,
};

interface LeaderElectorOptions extends Partial<typeof PERIODS> {
  /** A separate client, so that renewals never queue behind other calls. */
  readonly client: KubeClient;
  readonly lease: ObjectRef;
  /** Unique among all candidates and their restarts: pod name and a random suffix. */
  readonly identity: string;
  readonly log: Log;
  readonly clock?: Clock;
  readonly random?: () => number;
}

const CALL_DEADLINE_MS = 5_000;

/** One candidate of several. Leadership saves work but does not fence: a paused leader may act a moment too long. */
export class LeaderElector {
  readonly #options: LeaderElectorOptions;
  readonly #periods: typeof PERIODS;
  readonly #clock: Clock;
  readonly #log: Log;
  /** The last read record, and when our own clock first saw it: `renewTime` is never compared with that. */
  #observed: { readonly record: LeaseRecord; readonly sinceMs: number } | undefined;
  /** True from the sending of a write until it is known to be stored or overtaken: one that is cut off may be either. */
  #isWriting = false;
  /** Start of the last successful renewal; undefined while not leading. */
  #renewedAtMs: number | undefined;

  /** @throws RangeError when the renew deadline leaves no margin before the lease's end */
  constructor(options: LeaderElectorOptions) {
    const periods = { ...PERIODS, ...options };
    const isTooClose = periods.renewDeadlineMs + periods.retryMs >= periods.leaseMs;
    if (isTooClose) throw new RangeError("the renew deadline is too close to the lease's end");
    this.#options = options;
    this.#periods = periods;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log.with({ lease: options.lease.name, identity: options.identity });
  }

  /** Call just before a write: a process that was suspended learns of its lost lease here before its timers fire. */
  isLeader(): boolean {
    return this.#renewedAtMs !== undefined && this.#leftMs() > 0;
  }

  /** Competes until it has led once, or until `signal` aborts. Rejects with the rejection of `onStartedLeading`. */
  async run(leadership: Leadership, signal: AbortSignal): Promise<CandidacyEnd> {
    while (!signal.aborted && !(await this.#try(signal))) await this.#pause(this.#periods.checkMs, signal);
    if (this.#renewedAtMs === undefined) {
      if (this.#isWriting) await this.#release();
      return "never-led";
    }
    this.#log.info("leading");
    return (await this.#lead(leadership, signal)) ? "released" : "lost";
  }

  /** True when the work ended while leading. */
  async #lead(leadership: Leadership, stop: AbortSignal): Promise<boolean> {
    const term = new AbortController();
    const worked = new AbortController();
    const onStop = () => term.abort("stopping" satisfies TermEnd);
    stop.addEventListener("abort", onStop, { once: true });
    if (stop.aborted) onStop();
    const work = leadership.onStartedLeading(term.signal).finally(() => worked.abort());
    // Awaited below; until renewing ends, a rejection must not count as unhandled.
    work.catch(() => undefined);
    try {
      const isKept = await this.#renewUntil(worked.signal);
      if (!isKept) {
        term.abort("lost" satisfies TermEnd);
        leadership.onStoppedLeading?.("lost");
      }
      await work;
      return isKept;
    } finally {
      stop.removeEventListener("abort", onStop);
      if (this.#renewedAtMs !== undefined) {
        await this.#release();
        leadership.onStoppedLeading?.("stopping");
      }
    }
  }

  /** True when the work ended while leading; false when leadership was lost first. */
  async #renewUntil(worked: AbortSignal): Promise<boolean> {
    const lost = new AbortController();
    const either = AbortSignal.any([worked, lost.signal]);
    let cancel = this.#atDeadline(lost);
    while (!either.aborted) {
      await this.#pause(this.#periods.retryMs, either);
      if (either.aborted) break;
      await this.#try(either);
      // Follows the last renewal; fires at once when another holds the lease.
      cancel();
      cancel = this.#atDeadline(lost);
    }
    cancel();
    if (worked.aborted) return true;
    this.#log.error("leadership was lost");
    this.#renewedAtMs = undefined;
    return false;
  }

  /** A timer, not a check between calls: a hanging call must not outlive the lease. */
  #atDeadline(lost: AbortController): CancelTimer {
    return this.#clock.setTimer(Math.max(0, this.#leftMs()), () => lost.abort());
  }

  #leftMs(): number {
    return (this.#renewedAtMs ?? Number.NEGATIVE_INFINITY) + this.#periods.renewDeadlineMs - this.#clock.monotonicMs();
  }

  #pause(leastMs: number, signal: AbortSignal): Promise<void> {
    const random = this.#options.random ?? Math.random;
    return pause(this.#clock, leastMs * (1 + 0.2 * random()), signal);
  }

  /** One attempt to acquire or renew; logs a failure and answers false. A conflict reads the lease again at once. */
  async #try(signal: AbortSignal): Promise<boolean> {
    const bounds = { clock: this.#clock, deadlineMs: CALL_DEADLINE_MS, signals: [signal] };
    const attempts = async (call: AbortSignal) => (await this.#attempt(call)) ?? (await this.#attempt(call)) ?? false;
    try {
      return await within(bounds, (bound) => attempts(bound.signal));
    } catch (error) {
      if (!signal.aborted) this.#log.warn("the lease could not be read or written", { error });
      return false;
    }
  }

  /** Undefined when another candidate was faster. */
  async #attempt(signal: AbortSignal): Promise<boolean | undefined> {
    const { client, lease: ref, identity } = this.#options;
    const begunMs = this.#clock.monotonicMs();
    const read = await client.find(leases, ref, { signal });
    if (this.#isHeldByAnother(read)) {
      this.#renewedAtMs = undefined;
      return false;
    }
    this.#isWriting = true;
    const isWritten = await writeLease(client, { ref, read }, this.#recordOver(read?.spec, identity), signal);
    this.#isWriting = false;
    if (!isWritten) return undefined;
    this.#renewedAtMs = begunMs;
    return true;
  }

  #isHeldByAnother(lease: Lease | undefined): boolean {
    const { record, sinceMs } = this.#observe(lease);
    const { holderIdentity: holder = "", leaseDurationSeconds = 0 } = record;
    if (holder === "" || holder === this.#options.identity) return false;
    return this.#clock.monotonicMs() - sinceMs < Math.max(leaseDurationSeconds * 1000, this.#periods.leaseMs);
  }

  /** The holder of a deleted lease does not know yet that it is: the last record counts. */
  #observe(lease: Lease | undefined) {
    const before = this.#observed;
    const record = lease === undefined ? (before?.record ?? {}) : (lease.spec ?? {});
    if (before !== undefined && equalJson(before.record, record)) return before;
    this.#observed = { record, sinceMs: this.#clock.monotonicMs() };
    return this.#observed;
  }

  #recordOver(before: LeaseRecord | undefined, holderIdentity: string): LeaseRecord {
    const now = microTime(this.#clock.now());
    const isRenewal = before?.holderIdentity === holderIdentity;
    return {
      holderIdentity,
      leaseDurationSeconds: Math.ceil(this.#periods.leaseMs / 1000),
      acquireTime: isRenewal ? (before.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: (before?.leaseTransitions ?? 0) + (isRenewal || before === undefined ? 0 : 1),
    };
  }

  /** Releases the lease; on failure the other candidates wait for it to expire. */
  async #release(): Promise<void> {
    this.#renewedAtMs = undefined;
    const { client, lease: ref, identity } = this.#options;
    const holding = { ref, identity, at: this.#clock.now() };
    const bounds = { clock: this.#clock, deadlineMs: CALL_DEADLINE_MS };
    try {
      if (await within(bounds, ({ signal }) => releaseLease(client, holding, signal))) this.#log.info("released");
    } catch (error) {
      this.#log.warn("the lease could not be released", { error });
    }
  }
}

/** The time in which this process may reconcile: guards the controllers' client. */
interface Term extends WriteGuard {
  /** Begins a term: from now on writes need `isLeading`; before, all are allowed. */
  begin(isLeading: () => boolean): void;
  end(): void;
}

export function createTerm(): Term {
  const ended = new AbortController();
  let mayWrite = () => true;
  return {
    signal: ended.signal,
    holds: () => mayWrite(),
    begin(isLeading) {
      mayWrite = isLeading;
    },
    end: () => ended.abort(),
  };
}

/** The candidates' shared record (`coordination.k8s.io/v1`). An empty holder means released. */
interface LeaseRecord {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

export interface Lease extends KubeObject {
  readonly spec?: LeaseRecord;
}

export const leases = resourceType<Lease>(leaseKind);

/** Kubernetes' MicroTime: exactly six fraction digits, or the API server answers 400 (client-node issue 828). */
export function microTime(time: Date): string {
  return time.toISOString().replace(/\.(\d{3})Z$/, ".$1000Z");
}

/** Creates the lease or writes it over the version read; false when another candidate was faster. */
async function writeLease(
  client: KubeClient,
  target: { readonly ref: ObjectRef; readonly read: Lease | undefined },
  record: LeaseRecord,
  signal: AbortSignal,
): Promise<boolean> {
  const { ref, read } = target;
  const writing =
    read === undefined
      ? client.create(leases, { metadata: ref, spec: record }, { signal })
      : client.replace(leases, { ...read, spec: record }, { signal });
  const isLost = (error: unknown) => isConflict(error) || isAlreadyExists(error);
  return writing.then(() => true).catch(insteadOf(isLost, false));
}

/** Lets the next candidate begin at once; false where another holds the lease already. */
async function releaseLease(
  client: KubeClient,
  holding: { readonly ref: ObjectRef; readonly identity: string; readonly at: Date },
  signal: AbortSignal,
): Promise<boolean> {
  const { ref, identity, at } = holding;
  while (true) {
    const read = await client.find(leases, ref, { signal });
    if (read?.spec?.holderIdentity !== identity) return false;
    const record = { ...read.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime: microTime(at) };
    // A renewal that was cut off may be stored between the read and the write.
    if (await writeLease(client, { ref, read }, record, signal)) return true;
  }
}
