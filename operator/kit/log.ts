import { AsyncLocalStorage } from "node:async_hooks";
import { types } from "node:util";
import winston from "winston";

/** Facts of a log line: names, counts, keys; never a secret value. */
export type Facts = Readonly<Record<string, unknown>>;

/** Structured logging: constant message, varying facts. Error level means that an operator should act. */
export interface Log {
  debug(message: string, facts?: Facts): void;
  info(message: string, facts?: Facts): void;
  warn(message: string, facts?: Facts): void;
  error(message: string, facts?: Facts): void;
  /** A log that adds these facts to every line. */
  with(facts: Facts): Log;
}

/** Lowest level written. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** A log whose level can change at run time. */
export interface LevelledLog extends Log {
  level: LogLevel;
}

const storage = new AsyncLocalStorage<Facts>();

/** Runs the work; all its log lines, later ones included, have these facts too. */
export function withLogFacts<T>(facts: Facts, work: () => T): T {
  return storage.run({ ...storage.getStore(), ...facts }, work);
}

/** Facts of `withLogFacts` for the current work. */
export function logFacts(): Facts | undefined {
  return storage.getStore();
}

/** JSON lines on `stream` (standard output by default): `{"time", "level", "message", …facts}`. */
export function winstonLog(options: {
  readonly level: LogLevel;
  readonly stream?: NodeJS.WritableStream;
}): LevelledLog {
  const transport =
    options.stream === undefined
      ? new winston.transports.Console()
      : new winston.transports.Stream({ stream: options.stream });
  const logger = winston.createLogger({
    level: options.level,
    format: winston.format.printf((line) => String(line.line)),
    transports: [transport],
  });
  const log = logTo((level, message, facts) => {
    if (logger.isLevelEnabled(level)) logger.log({ level, message, line: lineOf(level, message, facts) });
  });
  return {
    ...log,
    get level() {
      return logger.level as LogLevel;
    },
    set level(level: LogLevel) {
      logger.level = level;
    },
  };
}

/** A log that passes each line on, with the facts of `with` and `withLogFacts`. */
export function logTo(take: (level: LogLevel, message: string, facts: Facts) => void, base: Facts = {}): Log {
  const write = (level: LogLevel) => (message: string, facts?: Facts) =>
    take(level, message, { ...base, ...logFacts(), ...facts });
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    with: (facts) => logTo(take, { ...base, ...facts }),
  };
}

function lineOf(level: LogLevel, message: string, facts: Facts): string {
  const head = { time: new Date().toISOString(), level, message };
  try {
    return JSON.stringify({ ...facts, ...head }, printable);
  } catch (unprintable) {
    // A cycle or a throwing toJSON must cost no more than the facts of the line.
    return JSON.stringify({ ...head, facts: "unprintable", error: errorFacts(unprintable, 0) });
  }
}

/** `toJSON` was called before: masked types stay masked, and KubeError shows status and reason only. */
function printable(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  return types.isNativeError(value) ? errorFacts(value, 0) : value;
}

const DEEPEST_CAUSE = 4;

function errorFacts(error: unknown, depth: number): unknown {
  if (!types.isNativeError(error)) return error === undefined ? undefined : typeof error;
  if ("toJSON" in error && typeof error.toJSON === "function") return error.toJSON();
  const code = "code" in error && typeof error.code === "string" ? { code: error.code } : {};
  const cause =
    error.cause === undefined || depth >= DEEPEST_CAUSE ? {} : { cause: errorFacts(error.cause, depth + 1) };
  return { name: error.name, message: error.message, ...code, stack: error.stack, ...cause };
}
