import type { LogLine } from "../../../operator/ports/api/pods.ts";
import type { DeployerEntry } from "../../../operator/ports/deployer.ts";
import type { LogEntry } from "./schemas.ts";

/** Container's log line as an entry: most loggers' JSON is parsed, other text is the message. */
export function toLogEntry({ at, text }: LogLine): LogEntry {
  const written = new Date(at);
  const fields = fieldsOf(text);
  if (fields === undefined) return { timestamp: written.toISOString(), level: levelIn(text), message: text };
  const said = fields.msg ?? fields.message;
  return {
    timestamp: (
      momentOf(fields.time ?? fields.ts ?? fields["@timestamp"] ?? fields.timestamp) ?? written
    ).toISOString(),
    level: levelOf(fields.level ?? fields.severity ?? fields.lvl) ?? "INFO",
    // A line without a message is shown as a whole.
    message: typeof said === "string" ? withFailure(said, fields) : text,
  };
}

/** Loggers put errors beside the message; an entry has one text. */
function withFailure(message: string, fields: Readonly<Record<string, unknown>>): string {
  const values = [fields.stack, fields.error, fields.err, fields.exception].flatMap((value) => {
    const { stack, message: said } = (value ?? {}) as { readonly stack?: unknown; readonly message?: unknown };
    return [value, stack, said];
  });
  const failure = values.find((value): value is string => typeof value === "string" && value !== "");
  return failure === undefined || message.includes(failure) ? message : `${message}: ${failure}`;
}

/** Line of the deployer's report as an entry. */
export function toDeployerLogEntry({ at, level, message }: DeployerEntry): LogEntry {
  return { timestamp: at.toISOString(), level, message };
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** Units since 1970, recognised by size: the years 2001 to 2286. */
const UNITS_MS = [
  { from: 1e9, ms: 1e3 },
  { from: 1e12, ms: 1 },
  { from: 1e15, ms: 1e-3 },
  { from: 1e18, ms: 1e-6 },
];

function momentOf(value: unknown): Date | undefined {
  if (typeof value === "number") {
    const unit = UNITS_MS.findLast(({ from }) => value >= from);
    return unit && valid(new Date(Math.floor(value * unit.ms)));
  }
  // Loggers write dates with times; a quoted number would be read as a year.
  if (typeof value !== "string" || !/^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/.test(value)) return undefined;
  const hasZone = /(Z|[+-]\d{2}:?\d{2})$/i.test(value);
  return valid(new Date(hasZone ? value : `${value}Z`));
}

function valid(moment: Date): Date | undefined {
  const year = moment.getUTCFullYear();
  return year >= 1970 && year < 10_000 ? moment : undefined;
}

const LEVELS = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"] as const;
type Level = (typeof LEVELS)[number];
/** Other names of loggers, syslog and the clouds. */
const SYNONYMS: Readonly<Record<Level, readonly string[]>> = {
  TRACE: ["VERBOSE", "SILLY"],
  DEBUG: ["DBG"],
  INFO: ["INF", "INFORMATION", "INFORMATIONAL", "NOTICE", "LOG", "HTTP"],
  WARN: ["WRN", "WARNING"],
  ERROR: ["ERR", "SEVERE"],
  FATAL: ["CRITICAL", "CRIT", "ALERT", "EMERGENCY", "EMERG", "PANIC", "DPANIC"],
};

function levelOf(value: unknown): Level | undefined {
  // Pino and Bunyan count from 10 to 60.
  if (typeof value === "number") return LEVELS[Math.min(Math.floor(value / 10), LEVELS.length) - 1];
  if (typeof value !== "string") return undefined;
  const word = value.toUpperCase();
  return LEVELS.find((level) => level === word || SYNONYMS[level].includes(word));
}

/** Level of a plain line: as `level=…`, in brackets or before a colon in any case, else in capitals. */
const MARKED = /\b(?:level|lvl|severity)["']?[=:] ?["']?(\w+)|\[(\w+)\]|(?:^|\s)(\w+):/gi;
const CAPITALS = /\b[A-Z]{3,}\b/g;
/** Further on, the word does not mean the level. */
const SEARCHED_CHARACTERS = 100;

function levelIn(text: string): string {
  const head = text.slice(0, SEARCHED_CHARACTERS);
  for (const [, ...words] of head.matchAll(MARKED)) {
    const level = levelOf(words.find((word) => word !== undefined));
    if (level !== undefined) return level;
  }
  for (const [word] of head.matchAll(CAPITALS)) {
    const level = levelOf(word);
    if (level !== undefined) return level;
  }
  return "INFO";
}
