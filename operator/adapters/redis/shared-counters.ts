import { hash } from "node:crypto";
import { Redis } from "ioredis";
import { type RedisReply, RedisStore } from "rate-limit-redis";
import { present } from "../../../crds/present.ts";
import type { Log } from "../../kit/log.ts";
import type { Clock } from "../../kit/time/clock.ts";
import { type Counter, CountersUnavailable, type SharedCounters } from "../../ports/api/shared-counters.ts";

/** Longest wait of a request. */
const COMMAND_MS = 100;
/** A connection with an answer this late is half open: only a new one helps. */
const SILENCE_MS = 2_000;
const CONNECT_MS = 2_000;
const LONGEST_RETRY_MS = 2_000;
/** Pause after a failure: one API request in ten seconds waits 100 ms in vain. */
const PAUSE_MS = 10_000;
const KEYS = "ephemeral-environments:limits:";

/** Address and credentials of the Redis. */
export interface RedisOptions {
  /** `redis://host:port/database`, or `rediss://` for TLS; without credentials. */
  readonly url: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** CA of its certificate, in PEM, if unknown to the machine. */
  readonly ca?: string | undefined;
  /** Limit of a command, 100 ms by default. */
  readonly commandMs?: number;
}

/** SharedCounters port on a Redis, which may be away at any time, even at the start. Close it when done. */
export function redisSharedCounters(
  options: RedisOptions,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): SharedCounters & { close(): void } {
  const redis = connect(options);
  const attempts = sparingly(clock, log);
  // Every failure shows in its command; an error event without a listener would end the process.
  redis.on("error", () => undefined);
  const stores = new Map<string, RedisStore>();
  const storeOf = (counter: Counter) => {
    const known = stores.get(counter.name) ?? newStore(redis, counter);
    stores.set(counter.name, known);
    return known;
  };
  return {
    increment: (counter, key) =>
      attempts(async () => {
        const { totalHits, resetTime } = await storeOf(counter).increment(key);
        return { total: totalHits, endsAt: resetTime ?? new Date(Date.now() + counter.windowMs) };
      }),
    state: () =>
      redis.ping().then(
        () => "up" as const,
        () => "down" as const,
      ),
    close: () => redis.disconnect(),
  };
}

function connect({ url, username, password, ca, commandMs = COMMAND_MS }: RedisOptions): Redis {
  return new Redis(url, {
    ...present({ username, password }),
    ...(ca === undefined ? {} : { tls: { ca } }),
    connectTimeout: CONNECT_MS,
    commandTimeout: commandMs,
    socketTimeout: SILENCE_MS,
    // Unsendable commands fail at once: old counts are useless.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    enableReadyCheck: false,
    retryStrategy: (attempt) => Math.min(attempt * 100, LONGEST_RETRY_MS),
    disableClientInfo: true,
  });
}

function newStore(redis: Redis, { name, windowMs }: Counter): RedisStore {
  const sendCommand = async (command: string, ...args: string[]): Promise<RedisReply> => {
    const reply = redis.call(command, ...args) as Promise<RedisReply>;
    return isScriptLoad(command, args) ? reply.catch(() => hash("sha1", args[1] ?? "")) : reply;
  };
  const store = new RedisStore({ sendCommand, prefix: `${KEYS}${name}:` });
  // `init` reads only the window; it can't fail, because loading a script can't.
  void store.init({ windowMs } as Parameters<RedisStore["init"]>[0]);
  return store;
}

/**
 * The store keeps a failed script load for ever, so we answer the script's SHA-1, its name in Redis: a Redis without it
 * says NOSCRIPT, and the store loads it again.
 */
const isScriptLoad = (command: string, [subcommand]: readonly string[]) =>
  command === "SCRIPT" && subcommand === "LOAD";

/** Spares a Redis in an outage: one call in ten seconds tests it; all others fail at once. */
function sparingly(clock: Clock, log: Log) {
  let isDown = false;
  let notBeforeMs = Number.NEGATIVE_INFINITY;
  const pause = () => {
    notBeforeMs = clock.monotonicMs() + PAUSE_MS;
  };
  const found = (down: boolean) => {
    if (down) pause();
    else notBeforeMs = Number.NEGATIVE_INFINITY;
    if (down === isDown) return;
    isDown = down;
    if (down) log.warn("the shared counters can't be reached: every replica counts for itself");
    else log.info("the shared counters are back");
  };
  return async <T>(call: () => Promise<T>): Promise<T> => {
    if (clock.monotonicMs() < notBeforeMs) throw new CountersUnavailable();
    if (isDown) pause();
    try {
      const result = await call();
      found(false);
      return result;
    } catch (cause) {
      found(true);
      throw new CountersUnavailable({ cause });
    }
  };
}
