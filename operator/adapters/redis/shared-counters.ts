import { hash } from "node:crypto";
import { Redis } from "ioredis";
import { type RedisReply, RedisStore } from "rate-limit-redis";
import type { Log } from "../../kit/log.ts";
import type { Clock } from "../../kit/time/clock.ts";
import { type Counter, CountersUnavailable, type SharedCounters } from "../../ports/facade/shared-counters.ts";

/** A request never waits longer for its number. */
const COMMAND_MS = 100;
/** A connection on which an answer is overdue for so long is half open: only a new one helps. */
const SILENCE_MS = 2_000;
const CONNECT_MS = 2_000;
const LONGEST_RETRY_MS = 2_000;
/** No request is sent for so long after a failure: one API request in ten seconds waits 100 ms in vain. */
const PAUSE_MS = 10_000;
const KEYS = "ephemeral-environments:limits:";

/** Where the Redis is. */
export interface RedisOptions {
  /** `redis://host:port/database`, or `rediss://` for TLS; without credentials. */
  readonly url: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** PEM of the authority behind its certificate, where the machine's own authorities don't include it. */
  readonly ca?: string | undefined;
  /** How long a command may take, 100 ms unless said. */
  readonly commandMs?: number;
}

/** The SharedCounters port on a Redis, which may be away at any time, also at the start. Close it when done. */
export function redisSharedCounters(
  options: RedisOptions,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): SharedCounters & { close(): void } {
  const redis = connect(options);
  const attempts = sparingly(clock, log);
  // Every failure shows in the command that it costs; an error event without a listener would end the process.
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
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(ca === undefined ? {} : { tls: { ca } }),
    connectTimeout: CONNECT_MS,
    commandTimeout: commandMs,
    socketTimeout: SILENCE_MS,
    // What can't be sent now fails now: a count of a minute ago is of no use.
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
    return isScriptLoad(command, args) ? reply.catch(() => hashOf(args[1] ?? "")) : reply;
  };
  const store = new RedisStore({ sendCommand, prefix: `${KEYS}${name}:` });
  // All that `init` reads of the options is the window; it can't fail, because loading a script can't.
  void store.init({ windowMs } as Parameters<RedisStore["init"]>[0]);
  return store;
}

/**
 * The store keeps what loading its scripts came to, for ever, a failure too. Redis names a script by its SHA-1, so we can:
 * a Redis that does not have it says NOSCRIPT, and then the store loads it again.
 */
const isScriptLoad = (command: string, [subcommand]: readonly string[]) =>
  command === "SCRIPT" && subcommand === "LOAD";
const hashOf = (script: string) => hash("sha1", script);

/** While it is away, lets one call in ten seconds find out whether it is back; all others fail at once. */
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
