import type { LogEntry } from "../../sdk/index.ts";

/** A stored line. */
export interface Line extends LogEntry {
  /** Increases with every line, as a key of lists. */
  readonly number: number;
}

/** Limit of the stored lines: the oldest go first. */
export const KEPT = 2_000;

/** The newest lines of a log. */
export interface Lines {
  readonly kept: readonly Line[];
  readonly total: number;
}

export const NO_LINES: Lines = { kept: [], total: 0 };

/** Appends lines. */
export function withLines({ kept, total }: Lines, added: readonly LogEntry[]): Lines {
  const numbered = added.map((entry, index) => ({ ...entry, number: total + index }));
  return { kept: [...kept, ...numbered].slice(-KEPT), total: total + added.length };
}

/** Lines that contain the text, in any case. */
export function matching(lines: readonly Line[], text: string): readonly Line[] {
  const search = text.trim().toLowerCase();
  if (search === "") return lines;
  return lines.filter(({ message, level }) => `${level} ${message}`.toLowerCase().includes(search));
}

/** Lines as a file. */
export function asText(lines: readonly Line[]): string {
  return lines.map(({ timestamp, level, message }) => `${timestamp} ${level} ${message}\n`).join("");
}

/** Distance from its end, in pixels, at which a log still counts as read to the end. */
const END_PX = 24;

/** Scroll position of an element, in pixels. */
interface Scrolled {
  readonly scrollTop: number;
  readonly clientHeight: number;
  readonly scrollHeight: number;
}

/** True when the end of the log is visible. */
export function isAtEnd({ scrollTop, clientHeight, scrollHeight }: Scrolled): boolean {
  return scrollHeight - clientHeight - scrollTop <= END_PX;
}
