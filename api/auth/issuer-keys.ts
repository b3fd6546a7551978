import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import type { Settings } from "../../config/settings.ts";
import { isSafeAddress } from "../../crds/addresses.ts";
import { HOUR_MS } from "../../crds/durations.ts";
import type { Log } from "../../operator/kit/log.ts";
import type { Clock } from "../../operator/kit/time/clock.ts";
import { HttpError } from "../errors.ts";

export type IssuerSettings = Settings["api"]["issuers"][number];

const REQUEST_TIMEOUT_MS = 5_000;
const MAX_DOCUMENT_BYTES = 1_048_576;
/** Older keys are fetched again in the background. */
const REFRESH_AFTER_MS = 5 * 60_000;
/** Time for which keys serve without their issuer: a revoked key must not live for ever. */
const STALE_LIMIT_MS = 12 * HOUR_MS;
const FAILURE_BACKOFF_MS = 10_000;
/** Least time between two fetches for unknown key ids. */
const UNKNOWN_KEY_COOLDOWN_MS = 60_000;

export interface KeySources {
  readonly clock: Clock;
  readonly log: Log;
  readonly fetch?: typeof fetch;
}

interface Known {
  readonly find: ReturnType<typeof createLocalJWKSet>;
  readonly fetchedMs: number;
}

/** Verification keys of one issuer, from discovery (or `jwksUri`), fetched when first needed and kept. */
export class IssuerKeys {
  readonly #issuer: IssuerSettings;
  readonly #sources: KeySources;
  #known: Known | undefined;
  #attemptedMs = Number.NEGATIVE_INFINITY;
  #inFlight: Promise<void> | undefined;

  constructor(issuer: IssuerSettings, sources: KeySources) {
    this.#issuer = issuer;
    this.#sources = sources;
  }

  /**
   * Key for a token, for jose.
   *
   * @throws HttpError (unavailable) without trusted keys, jose's JWKSNoMatchingKey
   */
  readonly keyFor: JWTVerifyGetKey = async (header, token) => {
    const { find } = await this.#trusted();
    try {
      return await find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !this.#mayAsk(UNKNOWN_KEY_COOLDOWN_MS)) throw error;
      await this.#refresh();
      return (await this.#trusted()).find(header, token);
    }
  };

  async #trusted(): Promise<Known> {
    const ageMs = this.#ageMs();
    if (ageMs > REFRESH_AFTER_MS && this.#mayAsk(FAILURE_BACKOFF_MS)) {
      const refreshed = this.#refresh();
      if (ageMs > STALE_LIMIT_MS) await refreshed;
    }
    if (this.#known === undefined || this.#ageMs() > STALE_LIMIT_MS) throw unreachable();
    return this.#known;
  }

  #ageMs(): number {
    return this.#known === undefined
      ? Number.POSITIVE_INFINITY
      : this.#sources.clock.monotonicMs() - this.#known.fetchedMs;
  }

  /** A request in flight may always be joined. */
  #mayAsk(pauseMs: number): boolean {
    return this.#inFlight !== undefined || this.#sources.clock.monotonicMs() - this.#attemptedMs >= pauseMs;
  }

  /** Never rejects: a failure is logged, and shows in the keys' age. */
  #refresh(): Promise<void> {
    this.#inFlight ??= this.#load().finally(() => {
      this.#inFlight = undefined;
    });
    return this.#inFlight;
  }

  async #load(): Promise<void> {
    const { clock, log, fetch: get = fetch } = this.#sources;
    this.#attemptedMs = clock.monotonicMs();
    try {
      const keys = await readKeys(this.#issuer, get);
      this.#known = { find: createLocalJWKSet(keys), fetchedMs: clock.monotonicMs() };
    } catch (error) {
      log.warn("the keys of an issuer can't be read", { issuer: this.#issuer.issuer, error });
    }
  }
}

function unreachable(): HttpError {
  const detail = "The identity provider can't be reached; try again later";
  return new HttpError("unavailable", detail, { retryAfterSeconds: FAILURE_BACKOFF_MS / 1000 });
}

async function readKeys(issuer: IssuerSettings, get: typeof fetch): Promise<JSONWebKeySet> {
  const keys = await readJson(issuer.jwksUri ?? (await discover(issuer.issuer, get)), get);
  if (!Array.isArray(keys.keys)) throw new Error("the issuer's key set has no keys");
  return keys as unknown as JSONWebKeySet;
}

/**
 * https://openid.net/specs/openid-connect-discovery-1_0.html, sections 4.1 and 4.3: the issuer must match byte for
 * byte.
 */
async function discover(issuer: string, get: typeof fetch): Promise<string> {
  const document = await readJson(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`, get);
  if (document.issuer !== issuer) throw new Error("the discovery document names another issuer");
  if (typeof document.jwks_uri !== "string" || !isSafeAddress(new URL(document.jwks_uri))) {
    throw new Error("the discovery document has no jwks_uri over https");
  }
  return document.jwks_uri;
}

async function readJson(url: string, get: typeof fetch): Promise<Record<string, unknown>> {
  const response = await get(url, {
    redirect: "error",
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    headers: { accept: "application/json" },
  });
  const text = await boundedText(response);
  if (!response.ok) throw new Error(`the issuer answered ${response.status}`);
  const document: unknown = JSON.parse(text);
  if (typeof document !== "object" || document === null) throw new Error("the issuer's document is no JSON object");
  return document as Record<string, unknown>;
}

async function boundedText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > MAX_DOCUMENT_BYTES) throw new Error("the issuer's document is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
