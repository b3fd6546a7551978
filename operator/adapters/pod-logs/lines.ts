import { type Mask, TooMuchToMask } from "../../masking/secret-mask.ts";
import type { LogLine } from "../../ports/api/pods.ts";

const LONGEST_TEXT = 16 * 1024;
const MOST_CHARACTERS = 1024 ** 2;

/** A line of our own. */
export function note(at: Date, text: string): LogLine {
  return warning(momentOf(at), text);
}

const warning = (at: string, text: string): LogLine => ({ at, text: `WARN ${text}` });

export const momentOf = (date: Date) => date.toISOString().replace("Z", "000000Z");

/** The last lines, in order of writing; equal moments in the given order. */
export function newest<L extends LogLine>(lines: readonly L[], count: number): L[] {
  const last = inOrder(lines).slice(-count);
  let left = MOST_CHARACTERS;
  for (let index = last.length - 1; index >= 0; index -= 1) {
    left -= last[index]?.text.length ?? 0;
    if (left < 0) return last.slice(index + 1);
  }
  return last;
}

export function inOrder<L extends LogLine>(lines: readonly L[]): L[] {
  return [...lines].sort(({ at: one }, { at: other }) => (one < other ? -1 : one > other ? 1 : 0));
}

/**
 * Masked lines; masked together, because a value may span lines. If masking fails, one line replaces all, with the last
 * moment.
 */
export async function shown(lines: readonly LogLine[], mask: Mask): Promise<readonly LogLine[]> {
  const last = lines.at(-1);
  if (last === undefined) return [];
  try {
    const texts = (await mask(lines.map(({ text }) => text).join("\n"))).split("\n");
    return lines.map(({ at }, index) => ({ at, text: shortened(texts[index] ?? "") }));
  } catch (error) {
    if (!(error instanceof TooMuchToMask)) throw error;
    return [warning(last.at, error.message)];
  }
}

const shortened = (text: string) => (text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT - 1)}…` : text);
