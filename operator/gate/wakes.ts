import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { REQUESTED_ANNOTATION } from "../../crds/group.ts";
import type { Clock } from "../kit/time/clock.ts";
import { type TokenBucket, tokenBucket } from "../kit/time/rate-limits.ts";
import type { SleepingEnvironments } from "../ports/sleeping-environments.ts";

/** Environments that one address may wake, a minute. */
const PER_ADDRESS_A_MINUTE = 20;
/** Environments that may be woken in all, a second, after a burst of fifty. The operator wakes them a few at a time. */
const IN_ALL_A_SECOND = 5;
const BURST_SECONDS = 10;
const MOST_ADDRESSES = 10_000;

/** Result of the wish to wake an environment: `limited` by the rate of an address or of all. */
export type Waking = "requested" | "limited";

interface Context {
  readonly environments: SleepingEnvironments;
  readonly clock: Clock;
}

/** Wakes environments: one write per sleep, however many requests come, within rates. */
export class Wakes {
  readonly #context: Context;
  readonly #inAll: TokenBucket;
  readonly #byAddress = new Map<string, TokenBucket>();
  readonly #writes = new Map<string, Promise<void>>();

  constructor(context: Context) {
    this.#context = context;
    this.#inAll = tokenBucket(context.clock, IN_ALL_A_SECOND, BURST_SECONDS);
  }

  /** Wakes a sleeping environment for a client's request. Rejects when the API server does not take the wish. */
  async wake(environment: EphemeralEnvironment, address: string): Promise<Waking> {
    if (isRequested(environment, this.#context.clock.now())) return "requested";
    const { uid } = environment.metadata;
    const begun = this.#writes.get(uid);
    if (begun === undefined && !this.#take(address)) return "limited";
    await (begun ?? this.#write(environment));
    return "requested";
  }

  #take(address: string): boolean {
    const known = this.#byAddress.get(address);
    const bucket = known ?? tokenBucket(this.#context.clock, PER_ADDRESS_A_MINUTE / 60, 60);
    // The order of the map is that of the last uses.
    this.#byAddress.delete(address);
    this.#byAddress.set(address, bucket);
    const [oldest] = this.#byAddress.keys();
    if (this.#byAddress.size > MOST_ADDRESSES && oldest !== undefined) this.#byAddress.delete(oldest);
    return bucket.take() && this.#inAll.take();
  }

  async #write(environment: EphemeralEnvironment): Promise<void> {
    const { environments, clock } = this.#context;
    const { uid } = environment.metadata;
    const written = environments.recordRequest(
      environment,
      new Date(Math.max(clock.now().getTime(), after(environment))),
    );
    this.#writes.set(uid, written);
    try {
      await written;
    } finally {
      this.#writes.delete(uid);
    }
  }
}

/** The operator ignores times that are further ahead. */
const SKEW_MS = 60_000;

/** True when the environment's sleep already has a request that counts. */
function isRequested(environment: EphemeralEnvironment, now: Date): boolean {
  const requestedMs = Date.parse(environment.metadata.annotations?.[REQUESTED_ANNOTATION] ?? "");
  return requestedMs >= after(environment) && requestedMs <= now.getTime() + SKEW_MS;
}

/** First millisecond that is later than the begin of its sleep, whatever this process's clock says. */
function after({ status }: EphemeralEnvironment): number {
  return Date.parse(status?.sleep?.since ?? "1970-01-01T00:00:00Z") + 1;
}
