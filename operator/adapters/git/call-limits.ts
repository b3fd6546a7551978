import type { Clock } from "../../kit/time/clock.ts";
import { BadGitAnswer } from "./packets.ts";

/** Pause where the host names none. */
const DEFAULT_SECONDS = 60;
const LONGEST_SECONDS = 3_600;
/** https://www.rfc-editor.org/rfc/rfc6585#section-4 */
const TOO_MANY_REQUESTS = 429;

/** Hosts that limit calls: all Repositories of one wait for as long as it wants. */
export class CallLimits {
  readonly #clock: Clock;
  readonly #endsMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws BadGitAnswer while the host of this address limits its calls */
  check(url: string): void {
    const { host } = new URL(url);
    const leftMs = (this.#endsMs.get(host) ?? 0) - this.#clock.monotonicMs();
    // Without the time: conditions that quote it would change at each look.
    if (leftMs > 0) throw new BadGitAnswer("it limits its calls");
    this.#endsMs.delete(host);
  }

  /** Notes an answer of the host. A date in `Retry-After` counts as none. */
  answered(url: string, statusCode: number, retryAfter: string | undefined): void {
    if (statusCode !== TOO_MANY_REQUESTS) return;
    const seconds = Math.min(Number(retryAfter) || DEFAULT_SECONDS, LONGEST_SECONDS);
    this.#endsMs.set(new URL(url).host, this.#clock.monotonicMs() + seconds * 1_000);
  }
}
