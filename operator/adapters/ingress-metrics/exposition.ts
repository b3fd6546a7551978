/** Labels of a sample, by their names. */
export type Labels = ReadonlyMap<string, string>;

/** A line of Prometheus' text format: https://prometheus.io/docs/instrumenting/exposition_formats/#text-format-details */
export interface Sample {
  readonly name: string;
  readonly labels: Labels;
  /** NaN where it is no plain number. */
  readonly value: number;
}

const NAME = /[ \t]*([a-zA-Z_:][\w:]*)[ \t]*/y;
const LABEL = /[ \t]*([a-zA-Z_]\w*)[ \t]*=[ \t]*"([^"\\]*(?:\\.[^"\\]*)*)"[ \t]*(?:,|(?=\}))/y;
const END_OF_LABELS = /[ \t]*\}/y;
/** The value, and a timestamp; OpenMetrics has an exemplar after them. */
const VALUE = /[ \t]*([^ \t]+)(?:[ \t]+[-+\d.e]+)?[ \t]*(?:#.*)?$/y;
const ESCAPES: Readonly<Record<string, string>> = { "\\\\": "\\", '\\"': '"', "\\n": "\n" };

/** Name of a line's sample; `undefined` for comments and empty lines. */
export function sampleName(line: string): string | undefined {
  NAME.lastIndex = 0;
  return NAME.exec(line)?.[1];
}

/** Sample of a line; `undefined` when it has none. */
export function sampleOf(line: string): Sample | undefined {
  const text = line.replace(/\r$/, "");
  const name = sampleName(text);
  if (name === undefined) return undefined;
  const labels = new Map<string, string>();
  const end = text[NAME.lastIndex] === "{" ? readLabels(text, NAME.lastIndex + 1, labels) : NAME.lastIndex;
  if (end === undefined) return undefined;
  VALUE.lastIndex = end;
  const value = VALUE.exec(text)?.[1];
  return value === undefined ? undefined : { name, labels, value: Number(value) };
}

/** Adds the labels; returns the place after them, `undefined` where they are malformed. */
function readLabels(text: string, begin: number, labels: Map<string, string>): number | undefined {
  LABEL.lastIndex = begin;
  let end = begin;
  for (let match = LABEL.exec(text); match !== null; match = LABEL.exec(text)) {
    const [, name = "", value = ""] = match;
    labels.set(
      name,
      value.replace(/\\./g, (escaped) => ESCAPES[escaped] ?? escaped),
    );
    end = LABEL.lastIndex;
  }
  END_OF_LABELS.lastIndex = end;
  return END_OF_LABELS.test(text) ? END_OF_LABELS.lastIndex : undefined;
}

/** Lines of such a text are some hundred bytes long. */
const LINE_LIMIT = 64 * 1024;

/** Calls `use` with each line of a text that arrives in parts. @throws RangeError when a line is too long */
export async function eachLine(parts: AsyncIterable<Uint8Array>, use: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const part of parts) {
    const lines = (rest + decoder.decode(part, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > LINE_LIMIT) throw new RangeError(`a line is longer than ${LINE_LIMIT} characters`);
    for (const line of lines) use(line);
  }
  if (rest !== "") use(rest);
}
