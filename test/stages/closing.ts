/** The end of a test run's output: the part that a CI shows first. */
import { stripVTControlCharacters } from "node:util";
import { countOf, type Failure, type Outcome } from "./outcome.ts";

/** A failed test, file or stage, and its place. */
export interface Located extends Failure {
  readonly stage: string;
  readonly file?: string | undefined;
}

export interface Run {
  readonly outcomes: readonly Outcome[];
  /** Failures of files that passed at the second run. */
  readonly unsteady: readonly Located[];
  /** The folder of the stages' whole output. */
  readonly logs: string;
}

/** Maximum lines of the block of failures. */
const MOST_LINES = 80;
const MOST_MESSAGE_LINES = 8;
const LONGEST_LINE = 400;
const SLOWEST = 10;

/** Closing lines of a run: slowest files and tests, unsteady files, failures, and the counts as the last line. */
export function closingLines({ outcomes, unsteady, logs }: Run): string[] {
  const failed = failuresOf(outcomes);
  const { passed, skipped } = countOf(outcomes);
  return [
    ...slowest(
      "files",
      outcomes.map(({ file = "", seconds = 0 }) => ({ title: file, seconds })),
    ),
    ...slowest(
      "tests",
      outcomes.flatMap(({ file, tests = [] }) => tests.map((one) => ({ ...one, title: `${file}: ${one.title}` }))),
    ),
    ...block("unsteady: failed, and passed when they ran again alone", unsteady, logs),
    ...block("failed:", failed, logs),
    ...(passed + failed.length === 0 ? ["No test ran. FILE is a part of a file's path, NAME of a test's title."] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    `${passed} passed, ${failed.length} failed`,
  ];
}

/** The failures of all outcomes with their places, in order. */
export function failuresOf(outcomes: readonly Outcome[]): Located[] {
  return outcomes.flatMap(({ stage, file, failures }) => failures.map((failure) => ({ ...failure, stage, file })));
}

function slowest(kind: string, all: readonly { readonly title: string; readonly seconds: number }[]): string[] {
  const longest = all.filter(({ title }) => title !== "").toSorted((one, other) => other.seconds - one.seconds);
  if (longest.length === 0) return [];
  const lines = longest
    .slice(0, SLOWEST)
    .map(({ title, seconds }) => `  ${seconds.toFixed(1).padStart(6)} s  ${title}`);
  return [`slowest ${kind}:`, ...lines, ""];
}

/** A heading, and for each failure its place in one line and as much of its message as fits. */
function block(heading: string, failures: readonly Located[], logs: string): string[] {
  if (failures.length === 0) return [];
  const room = MOST_LINES - 4;
  const named = failures.slice(0, room);
  const each = Math.min(MOST_MESSAGE_LINES, Math.floor(room / named.length) - 1);
  const rest = failures.length - named.length;
  return [
    heading,
    ...named.flatMap((failure) => [`  ${placeOf(failure)}`, ...messageLines(failure.message, each)]),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
    `  the whole output is in ${logs}: a file for each stage, and the logs of the programs that they started`,
    "",
  ];
}

function placeOf({ stage, file, title }: Located): string {
  return [stage, file, title].filter(Boolean).join(" › ");
}

/** The first lines of a message without colors, stack frames of libraries, and empty lines. */
export function messageLines(message: string, most: number): string[] {
  return stripVTControlCharacters(message)
    .split("\n")
    .filter((line) => line.trim() !== "" && !isFrameOfLibrary(line))
    .slice(0, most)
    .map((line) => `      ${line}`.slice(0, LONGEST_LINE));
}

function isFrameOfLibrary(line: string): boolean {
  return /^\s*at /.test(line) && /node_modules|\bnode:|<anonymous>\)?$/.test(line);
}
