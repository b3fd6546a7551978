import type { LogEntry } from "../../sdk/index.ts";

/** A line as it is kept. */
export interface Line extends LogEntry {
  /** Rises by one with every line, so that a list of lines can be told apart. */
  readonly number: number;
}

/** More are not kept: the oldest go first. */
export const KEPT = 2_000;

/** The newest lines of a log. */
export interface Lines {
  readonly kept: readonly Line[];
  /** How many there were. */
  readonly total: number;
}

export const NO_LINES: Lines = { kept: [], total: 0 };

/** The lines with others after them. */
export function withLines({ kept, total }: Lines, added: readonly LogEntry[]): Lines {
  const numbered = added.map((entry, index) => ({ ...entry, number: total + index }));
  return { kept: [...kept, ...numbered].slice(-KEPT), total: total + added.length };
}

/** Those that hold the text, in any case. */
export function matching(lines: readonly Line[], text: string): readonly Line[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return lines;
  return lines.filter(({ message, level }) => `${level} ${message}`.toLowerCase().includes(wanted));
}

/** The lines as a file. */
export function asText(lines: readonly Line[]): string {
  return lines.map(({ timestamp, level, message }) => `${timestamp} ${level} ${message}\n`).join("");
}

/** How many pixels from its end a log still counts as read to the end. */
const END_PX = 24;

/** What an element says of the part of it that is seen, in pixels. */
interface Scrolled {
  readonly scrollTop: number;
  readonly clientHeight: number;
  readonly scrollHeight: number;
}

/** Whether this part of a log shows its end. */
export function isAtEnd({ scrollTop, clientHeight, scrollHeight }: Scrolled): boolean {
  return scrollHeight - clientHeight - scrollTop <= END_PX;
}
