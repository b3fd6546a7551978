import type { ApiToken } from "../../crds/api-token.ts";
import { ClusterUnavailable } from "../../crds/errors.ts";
import type { ApiTokens } from "../../operator/ports/api-tokens.ts";
import type { Clock } from "../../operator/ports/clock.ts";

/** How long an answer is trusted: so long at most a token may outlive its revocation on another replica. */
const TRUST_MS = 1_000;
/** How much longer reads go on with it while the API server is away. */
const AWAY_MS = 60_000;
/** After a failure nobody waits for the next one for so long who can do with what is known. */
const FAILURE_PAUSE_MS = 1_000;
/** More tokens than are ever in use within a minute; which one goes costs no more than a read. */
const MOST_ANSWERS = 10_000;

/** What the API server said of a token, counted from when it was asked: a revocation after that is not in it. */
interface Answer {
  readonly token: ApiToken;
  readonly askedMs: number;
}

interface Asking {
  readonly askedMs: number;
  readonly answer: Promise<ApiToken | undefined>;
}

/** The API tokens as they are now, within a second, for a question a second and token at most. */
export class LiveTokens {
  readonly #tokens: Pick<ApiTokens, "known" | "readClaimed">;
  readonly #clock: Clock;
  readonly #answers = new Map<string, Answer>();
  readonly #asking = new Map<string, Asking>();
  #failedMs = Number.NEGATIVE_INFINITY;

  constructor(tokens: Pick<ApiTokens, "known" | "readClaimed">, clock: Clock) {
    this.#tokens = tokens;
    this.#clock = clock;
  }

  /**
   * The token of that id; with `mayBeStale` one that was there a minute ago, if the API server does not answer.
   *
   * @throws ClusterUnavailable when it can't be known
   */
  async find(id: string, mayBeStale: boolean): Promise<ApiToken | undefined> {
    const known = this.#tokens.known(id);
    // For good, whoever says it.
    if (known?.spec.revokedAt !== undefined) return known;
    const answer = this.#answers.get(id);
    const ageMs = answer === undefined ? Number.POSITIVE_INFINITY : this.#clock.monotonicMs() - answer.askedMs;
    if (ageMs < TRUST_MS) return newest(answer?.token, known);
    const stale = mayBeStale && ageMs <= TRUST_MS + AWAY_MS ? answer?.token : undefined;
    const found = await this.#now(id, stale);
    return newest(found, this.#tokens.known(id));
  }

  /** What the API server says; where it says nothing, and that will do, what it said a minute ago. */
  async #now(id: string, stale: ApiToken | undefined): Promise<ApiToken | undefined> {
    if (stale !== undefined && this.#clock.monotonicMs() - this.#failedMs < FAILURE_PAUSE_MS) return stale;
    try {
      return await this.#ask(id);
    } catch (error) {
      if (stale === undefined || !(error instanceof ClusterUnavailable)) throw error;
      return stale;
    }
  }

  /** Joins a question that is young enough to be trusted when it is answered. */
  #ask(id: string): Promise<ApiToken | undefined> {
    const askedMs = this.#clock.monotonicMs();
    const asking = this.#asking.get(id);
    if (asking !== undefined && askedMs - asking.askedMs < TRUST_MS) return asking.answer;
    const own: Asking = { askedMs, answer: this.#answered(id, askedMs) };
    this.#asking.set(id, own);
    const forget = () => {
      if (this.#asking.get(id) === own) this.#asking.delete(id);
    };
    own.answer.then(forget, forget);
    return own.answer;
  }

  async #answered(id: string, askedMs: number): Promise<ApiToken | undefined> {
    try {
      const token = await this.#tokens.readClaimed(id);
      this.#keep(id, token, askedMs);
      return token;
    } catch (error) {
      this.#failedMs = this.#clock.monotonicMs();
      throw error;
    }
  }

  #keep(id: string, token: ApiToken | undefined, askedMs: number): void {
    if ((this.#answers.get(id)?.askedMs ?? Number.NEGATIVE_INFINITY) > askedMs) return;
    this.#answers.delete(id);
    if (token !== undefined) this.#answers.set(id, { token, askedMs });
    if (this.#answers.size <= MOST_ANSWERS) return;
    for (const oldest of this.#answers.keys()) {
      this.#answers.delete(oldest);
      return;
    }
  }
}

/** What the watch saw may be newer than the answer: a revocation, or something later of the owner. */
function newest(answered: ApiToken | undefined, known: ApiToken | undefined): ApiToken | undefined {
  if (answered === undefined || known?.metadata.uid !== answered.metadata.uid) return answered;
  if (answered.spec.revokedAt !== undefined) return answered;
  if (known.spec.revokedAt !== undefined) return known;
  return Date.parse(known.spec.vouched.at) > Date.parse(answered.spec.vouched.at) ? known : answered;
}
