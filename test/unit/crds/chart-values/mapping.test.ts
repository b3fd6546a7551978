import { describe, expect, test } from "@jest/globals";
import { CHART_VALUES_MAX_LENGTH } from "../../../../crds/chart-values/chart-values.schema.ts";
import { readValues } from "../../../../crds/chart-values/mapping.ts";
import { REFERENCES_SENTENCE } from "../../../../crds/chart-values/references.ts";

const problemOf = (yaml: string) => {
  const read = readValues(yaml);
  return "problem" in read ? read.problem : undefined;
};
const deep = (levels: number) => `a: ${"[".repeat(levels)}${"]".repeat(levels)}`;
const lines = (count: number, of: (index: number) => string) =>
  Array.from({ length: count }, (_, at) => of(at)).join("\n");

describe("values that can't be read name line and column", () => {
  test.each([
    [
      "a bracket without its end",
      "a: 1\nb: [1",
      "line 2, column 6: Flow sequence in block collection must be sufficiently indented",
    ],
    [
      "an indentation that fits nowhere",
      "a:\n  b: 1\n c: 2",
      "line 3, column 1: All mapping items must start at the same column",
    ],
    ["a tab", "a:\n\tb: 1", "line 2, column 1: "],
    [
      "a reference within braces without quotes",
      "a: {b: ${backend.image}}",
      "(within { } and [ ], references have to be quoted)",
    ],
    ["a text", "hello", "line 1, column 1: the values of a chart are a map"],
    ["a list", "- a", "line 1, column 1: the values of a chart are a map"],
    ["a second document", "a: 1\n---\nb: 2", "line 2, column 1: "],
    ["a key that comes twice", "a:\n  b: 1\n  b: 2", "line 3, column 3: the same key twice"],
    ["a reference in a key", "a:\n  ${backend.host}: 1", "line 2, column 3: a key has no references"],
    ["a reference in a quoted key", 'a: 1\n"x ${suspended}": 1', "line 2, column 1: a key has no references"],
    ["a map as key", "? {a: 1}\n: 2", "line 1, column 3: a key is a text"],
    ["an alias", "a: &x 1\nb: *x", "line 2, column 4: aliases are not read"],
    ["a merge", "a: {b: 1}\nc:\n  <<: {d: 1}", "line 3, column 3: the key '<<' is not read"],
    ["a prototype", "a:\n  __proto__: {b: 1}", "line 2, column 3: the key '__proto__' is not read"],
    ["a constructor", "constructor: {prototype: 1}", "line 1, column 1: the key 'constructor' is not read"],
    ["a tag of JavaScript", "a: !!js/function 'x'", "line 1, column 18: tags are not read, but for !!str"],
    ["a binary", "a: !!binary aGk=", "tags are not read, but for !!str"],
    ["a tag of a map", "a: !x {b: 1}", "tags are not read, but for !!str"],
    ["another version of YAML", "%YAML 1.1\n---\na: yes", "directives such as %YAML are not read"],
    [
      "a word that is a boolean to helm",
      "a:\n  b: yes",
      "line 2, column 6: 'yes' is not the same value in every version of YAML",
    ],
    ["an octal number", "tag: 0123456", "line 1, column 6: '0123456' is not the same value"],
    ["a number with signs between digits", "a: 1_000", "'1_000' is not the same value"],
    ["a number that is too large", "a: 12345678901234567890", "a number that does not keep its digits: quote it"],
    ["no number", "a: .nan", "a number that does not keep its digits: quote it"],
    [
      "a reference that the API server can't see",
      'a: "\\x24{backend.image2}"',
      `line 1, column 4: '\${backend.image2}' is not known: ${REFERENCES_SENTENCE}`,
    ],
    ["a reference without its end", 'a: "\\x24{backend.image"', "is not known"],
    [
      "a list within text",
      "a: 1\nb: x ${backend.env}",
      "line 2, column 4: ${backend.env} is a list, which can't stand within text",
    ],
    ["a map as text", "b: !!str ${backend.resources}", "${backend.resources} is a map, which can't stand within text"],
    ["a number of pods beyond 99", "a: ${replicas.orZero(100)}", "is not known"],
    ["too deep brackets", deep(40), "nested too deeply"],
    ["brackets that would need the whole stack", deep(15_000), "nested too deeply"],
    ["lists in lists on one line", `${"- ".repeat(15_000)}a`, "nested too deeply"],
    ["maps in maps by indentation", lines(60, (at) => `${" ".repeat(at)}a:`), "nested too deeply"],
    ["too long a text", `a: ${"x".repeat(CHART_VALUES_MAX_LENGTH)}`, `more than ${CHART_VALUES_MAX_LENGTH} characters`],
    [
      "too many references",
      lines(201, (at) => `a${at}: \${suspended}`),
      "line 201, column 7: more than 200 references",
    ],
    ["too many lists", lines(21, (at) => `a${at}: \${backend.env}`), "more than 20 of lists and maps"],
  ])("%s", (_, yaml, words) => {
    expect(problemOf(yaml)).toContain(words);
    expect(problemOf(yaml)).toMatch(/^line [1-9][0-9]*, column [1-9][0-9]*: /);
  });
});

test("bombs are refused before anything grows", () => {
  const laughs = lines(9, (at) => `a${at}: &a${at} [${at === 0 ? "lol" : `*a${at - 1}, *a${at - 1}`}]`);
  expect(problemOf(laughs)).toContain("aliases are not read");
});

test("thousands of keys are read in linear time", () => {
  expect(problemOf(lines(5_000, (at) => `${at}:`))).toBeUndefined();
});

test.each([
  "a: 'yes'",
  "a: !!str 0123",
  "y: 1",
  "a: {n: 1}",
  "a: 12:30",
  "a: 0",
  "a: 0.5",
  "a: -1",
  "a: 1e3",
  "a: &x 1",
])("%s is read", (yaml) => {
  expect(problemOf(yaml)).toBeUndefined();
});
