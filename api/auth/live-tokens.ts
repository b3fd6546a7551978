import type { ApiToken } from "../../crds/api-token.ts";
import { ClusterUnavailable } from "../../crds/errors.ts";
import type { Clock } from "../../operator/kit/time/clock.ts";
import type { ApiTokenReader } from "../../operator/ports/api-tokens.ts";

/** Time for which an answer is trusted: the longest delay of another replica's revocation. */
const TRUST_MS = 1_000;
/** Further time for which reads are authenticated by it without the API server. */
const AWAY_MS = 60_000;
/** Pause after a failure in which a read uses a stale answer. */
const FAILURE_PAUSE_MS = 1_000;
/** More than any minute's tokens; a dropped one costs a read. */
const MOST_KEPT = 10_000;

/** The API server's answer, dated by its request: a later revocation is not in it. */
interface Answer {
  readonly token: ApiToken;
  readonly requestedMs: number;
}

interface Asking {
  readonly requestedMs: number;
  readonly answer: Promise<ApiToken | undefined>;
}

/** API tokens at most a second old, by at most one request a second and token. */
export class LiveTokens {
  readonly #tokens: ApiTokenReader;
  readonly #clock: Clock;
  readonly #memo = new Map<string, Answer>();
  readonly #asking = new Map<string, Asking>();
  #failedMs = Number.NEGATIVE_INFINITY;

  constructor(tokens: ApiTokenReader, clock: Clock) {
    this.#tokens = tokens;
    this.#clock = clock;
  }

  /**
   * Token of that id; with `mayBeStale` up to a minute old, without the API server.
   *
   * @throws ClusterUnavailable when it can't be determined
   */
  async find(id: string, mayBeStale: boolean): Promise<ApiToken | undefined> {
    const known = this.#tokens.known(id);
    // A revocation is never undone.
    if (known?.spec.revokedAt !== undefined) return known;
    const answer = this.#memo.get(id);
    const ageMs = answer === undefined ? Number.POSITIVE_INFINITY : this.#clock.monotonicMs() - answer.requestedMs;
    if (ageMs < TRUST_MS) return newest(answer?.token, known);
    const stale = mayBeStale && ageMs <= TRUST_MS + AWAY_MS ? answer?.token : undefined;
    const found = await this.#now(id, stale);
    return newest(found, this.#tokens.known(id));
  }

  async #now(id: string, stale: ApiToken | undefined): Promise<ApiToken | undefined> {
    if (stale !== undefined && this.#clock.monotonicMs() - this.#failedMs < FAILURE_PAUSE_MS) return stale;
    try {
      return await this.#ask(id);
    } catch (error) {
      if (stale === undefined || !(error instanceof ClusterUnavailable)) throw error;
      return stale;
    }
  }

  /** Joins a request in flight whose answer will still be trusted. */
  #ask(id: string): Promise<ApiToken | undefined> {
    const requestedMs = this.#clock.monotonicMs();
    const asking = this.#asking.get(id);
    if (asking !== undefined && requestedMs - asking.requestedMs < TRUST_MS) return asking.answer;
    const own: Asking = { requestedMs, answer: this.#answered(id, requestedMs) };
    this.#asking.set(id, own);
    const forget = () => {
      if (this.#asking.get(id) === own) this.#asking.delete(id);
    };
    own.answer.then(forget, forget);
    return own.answer;
  }

  async #answered(id: string, requestedMs: number): Promise<ApiToken | undefined> {
    try {
      const token = await this.#tokens.readClaimed(id);
      this.#keep(id, token, requestedMs);
      return token;
    } catch (error) {
      this.#failedMs = this.#clock.monotonicMs();
      throw error;
    }
  }

  #keep(id: string, token: ApiToken | undefined, requestedMs: number): void {
    if ((this.#memo.get(id)?.requestedMs ?? Number.NEGATIVE_INFINITY) > requestedMs) return;
    this.#memo.delete(id);
    if (token !== undefined) this.#memo.set(id, { token, requestedMs });
    if (this.#memo.size <= MOST_KEPT) return;
    for (const oldest of this.#memo.keys()) {
      this.#memo.delete(oldest);
      return;
    }
  }
}

/** Newer of answer and cached token, which may have a revocation or later facts about the owner. */
function newest(answered: ApiToken | undefined, known: ApiToken | undefined): ApiToken | undefined {
  if (answered === undefined || known?.metadata.uid !== answered.metadata.uid) return answered;
  if (answered.spec.revokedAt !== undefined) return answered;
  if (known.spec.revokedAt !== undefined) return known;
  return Date.parse(known.spec.assertedClaims.at) > Date.parse(answered.spec.assertedClaims.at) ? known : answered;
}
