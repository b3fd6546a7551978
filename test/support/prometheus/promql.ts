export interface Selector {
  readonly name: string;
  /** The matchers, as written, including `le`. */
  readonly labels: Readonly<Record<string, string>>;
  /** True for a range of time: `[5m]`. */
  readonly isRange: boolean;
}

/** An aggregation by labels, and its selectors. */
export interface Grouping {
  readonly labels: readonly string[];
  readonly selectors: readonly Selector[];
}

const STRING = /"(?:[^"\\]|\\.)*"/g;
const SELECTOR = /([a-zA-Z_:][\w:]*)\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\}(\[)?/g;
const MATCHER = /(\w+)(?:=~|!~|!=|=)("(?:[^"\\]|\\.)*")/g;
const WORDS = /[a-zA-Z_]\w*/g;

/** The selectors of a query, each with braces: `name{…}`. */
export function selectorsOf(query: string): readonly Selector[] {
  return [...query.matchAll(SELECTOR)].map(([, name = "", matchers = "", range]) => ({
    name,
    labels: Object.fromEntries(
      [...matchers.matchAll(MATCHER)].map(([, label, value]) => [label, JSON.parse(value ?? "")]),
    ),
    isRange: range !== undefined,
  }));
}

/** The aggregations by labels of a query. */
export function groupingsOf(query: string): readonly Grouping[] {
  return [...query.matchAll(/\bby \(([^)]*)\) \(/g)].map(({ index, 0: head, 1: labels = "" }) => ({
    labels: labels.split(/, */),
    selectors: selectorsOf(insideOf(query, index + head.length)),
  }));
}

/** Words outside selectors, lists of labels and texts: functions and operators. */
export function otherWordsOf(query: string): readonly string[] {
  const rest = query
    .replaceAll(SELECTOR, "$3")
    .replaceAll(/\bby \([^)]*\)/g, "")
    .replaceAll(STRING, "")
    .replaceAll(/\[[^\]]*\]/g, "");
  return [...new Set(rest.match(WORDS))];
}

function insideOf(query: string, from: number): string {
  // Of the same length, so that parentheses in texts do not count.
  const blank = query.replaceAll(STRING, (text) => " ".repeat(text.length));
  let depth = 1;
  let at = from;
  while (depth > 0 && at < blank.length) {
    if (blank[at] === "(") depth += 1;
    if (blank[at] === ")") depth -= 1;
    at += 1;
  }
  return query.slice(from, at);
}
