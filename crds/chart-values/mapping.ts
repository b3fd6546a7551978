import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  type YAMLMap,
} from "yaml";
import { CHART_VALUES_MAX_LENGTH } from "./chart-values.schema.ts";
import { type Call, callOf, REFERENCES_SENTENCE } from "./references.ts";

/** A chart value before references are filled in. */
export type Template =
  | { readonly kind: "literal"; readonly value: string | number | boolean | null }
  /** One reference alone; as text where the YAML tags it as `!!str`. */
  | { readonly kind: "reference"; readonly call: Call; readonly asText: boolean }
  | { readonly kind: "text"; readonly parts: readonly (string | Call)[] }
  | { readonly kind: "list"; readonly items: readonly Template[] }
  | MapTemplate;
export interface MapTemplate {
  readonly kind: "map";
  readonly entries: ReadonlyMap<string, Template>;
}

/** Unreadable values; `problem` has line and column, which begin at 1. */
export interface UnreadableValues {
  readonly problem: string;
}

const MAX_DEPTH = 32;
const MAX_REFERENCES = 200;
/** References to lists and maps, whose values may be long. */
const MAX_LONG_REFERENCES = 20;
/** Special names of JavaScript, and the key by which YAML 1.1 merges maps. */
const REFUSED_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype", "<<"]);
const TEXT_TAG = "tag:yaml.org,2002:str";

/** Unquoted scalars that YAML 1.1 (which Helm reads) and YAML 1.2 take for different values. */
const AMBIGUOUS =
  /^([yn]|yes|no|on|off|[-+]?0[0-9_]+|[-+]?0[ob][0-7_]+|[-+]?[0-9][0-9.]*_[0-9_.]*(e[-+]?[0-9]+)?|[-+]?0x[0-9a-f]*_[0-9a-f_]*)$/i;

class ProblemAt extends Error {
  readonly offset: number;
  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/** Reads chart values, which are bounded before they are parsed; nothing in them is run. */
export function readValues(text: string): MapTemplate | UnreadableValues {
  const lineCounter = new LineCounter();
  try {
    return new Reader().document(parsed(text, lineCounter));
  } catch (error) {
    if (!(error instanceof ProblemAt)) throw error;
    const { line, col } = lineCounter.linePos(error.offset);
    return { problem: `line ${Math.max(line, 1)}, column ${Math.max(col, 1)}: ${error.message}` };
  }
}

/** @throws ProblemAt */
function parsed(text: string, lineCounter: LineCounter): Document.Parsed {
  if (text.length > CHART_VALUES_MAX_LENGTH) throw new ProblemAt(0, `more than ${CHART_VALUES_MAX_LENGTH} characters`);
  const deep = tooDeepAt(text);
  if (deep !== undefined) throw new ProblemAt(deep, "nested too deeply");
  // Doubled keys are found below: the parser compares each key with each other.
  const document = parseDocument(text, { lineCounter, prettyErrors: false, uniqueKeys: false, logLevel: "error" });
  const [error] = document.errors;
  if (error !== undefined) throw new ProblemAt(error.pos[0], firstSentence(error.message, text, error.pos[0]));
  if (document.directives.yaml.explicit) throw new ProblemAt(0, "directives such as %YAML are not read");
  return document;
}

/** Names the likeliest mistake, an unquoted reference within braces, which the parser's message does not mention. */
function firstSentence(message: string, text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1).split("\n", 1)[0] ?? "";
  return line.includes("${") ? `${message} (within { } and [ ], references have to be quoted)` : message;
}

/** Offset of the first collection too deep for the parser's stack. */
function tooDeepAt(text: string): number | undefined {
  const compact = new RegExp(`([-?:][ \\t]+){${MAX_DEPTH + 1}}`).exec(text);
  if (compact !== null) return compact.index;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === "[" || sign === "{") depth++;
    else if (sign === "]" || sign === "}") depth = Math.max(0, depth - 1);
    // Quoted brackets count, too; so the limit is higher here.
    if (depth > 8 * MAX_DEPTH) return at;
  }
  return undefined;
}

class Reader {
  #references = 0;
  #longReferences = 0;

  document({ contents }: Document.Parsed): MapTemplate {
    if (contents === null || (isScalar(contents) && contents.value === null))
      return { kind: "map", entries: new Map() };
    if (!isMap(contents)) throw new ProblemAt(offsetOf(contents), "the values of a chart are a map");
    return this.#map(contents, 1);
  }

  #node(node: Node | null, depth: number): Template {
    if (node === null) return { kind: "literal", value: null };
    if (depth > MAX_DEPTH) throw new ProblemAt(offsetOf(node), "nested too deeply");
    if (isAlias(node)) throw new ProblemAt(offsetOf(node), "aliases are not read: write the value out");
    if (node.tag !== undefined && !(isScalar(node) && node.tag === TEXT_TAG)) {
      throw new ProblemAt(offsetOf(node), "tags are not read, but for !!str");
    }
    if (isMap(node)) return this.#map(node, depth);
    if (isSeq(node))
      return { kind: "list", items: node.items.map((item) => this.#node(item as Node | null, depth + 1)) };
    return this.#scalar(node as Scalar);
  }

  #map(node: YAMLMap, depth: number): MapTemplate {
    const entries = new Map<string, Template>();
    for (const { key, value } of node.items as Pair<Node | null, Node | null>[]) {
      const name = keyOf(key, offsetOf(node));
      if (entries.has(name)) throw new ProblemAt(offsetOf(key as Node), "the same key twice");
      entries.set(name, this.#node(value, depth + 1));
    }
    return { kind: "map", entries };
  }

  #scalar(node: Scalar): Template {
    const { value } = node;
    if (typeof value === "string") {
      if (isAmbiguous(node)) throw ambiguous(node);
      return this.#text(value, node);
    }
    if (typeof value === "boolean" || value === null) return { kind: "literal", value };
    if (typeof value !== "number") throw new ProblemAt(offsetOf(node), "no value of JSON: quote it");
    if (isAmbiguous(node)) throw ambiguous(node);
    const isExact = Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
    if (!isExact) throw new ProblemAt(offsetOf(node), "a number that does not keep its digits: quote it");
    // The API server has no negative zero, so the stored object would always differ.
    return { kind: "literal", value: value + 0 };
  }

  #text(text: string, node: Scalar): Template {
    const parts = partsOf(text.toWellFormed(), offsetOf(node));
    const [first = "", ...more] = parts;
    if (more.length === 0 && typeof first === "string") return { kind: "literal", value: first };
    const asText = node.tag === TEXT_TAG;
    const isAlone = more.length === 0;
    for (const part of parts) {
      if (typeof part !== "string") this.#count(part, isAlone && !asText, offsetOf(node));
    }
    return isAlone ? { kind: "reference", call: first as Call, asText } : { kind: "text", parts };
  }

  #count({ reference: { name, type } }: Call, mayBeLong: boolean, offset: number): void {
    const isLong = type === "list" || type === "map";
    if (isLong && !mayBeLong) throw new ProblemAt(offset, `\${${name}} is a ${type}, which can't stand within text`);
    this.#references++;
    if (isLong) this.#longReferences++;
    if (this.#references <= MAX_REFERENCES && this.#longReferences <= MAX_LONG_REFERENCES) return;
    throw new ProblemAt(
      offset,
      `more than ${MAX_REFERENCES} references, or more than ${MAX_LONG_REFERENCES} of lists and maps`,
    );
  }
}

const offsetOf = (node: Node): number => node.range?.[0] ?? 0;

const isAmbiguous = ({ type, source = "", tag }: Scalar) =>
  type === "PLAIN" && tag === undefined && AMBIGUOUS.test(source);
const ambiguous = (node: Scalar) =>
  new ProblemAt(
    offsetOf(node),
    `'${node.source}' is not the same value in every version of YAML: quote a text, write true or false, or a plain number`,
  );

/** Refuses keys other than text, as JSON does. */
function keyOf(key: Node | null, offsetOfMap: number): string {
  if (key === null || !isScalar(key))
    throw new ProblemAt(key === null ? offsetOfMap : offsetOf(key), "a key is a text");
  if (key.tag !== undefined && key.tag !== TEXT_TAG)
    throw new ProblemAt(offsetOf(key), "tags are not read, but for !!str");
  const name = typeof key.value === "string" ? key.value.toWellFormed() : (key.source ?? "");
  if (REFUSED_KEYS.has(name)) throw new ProblemAt(offsetOf(key), `the key '${name}' is not read`);
  if (name.includes("${")) throw new ProblemAt(offsetOf(key), "a key has no references: they stand in values");
  return name;
}

/** Two or more `$` before a brace: a literal; one: a reference, with or without its end; else other text. */
const PIECES = /([$]{2,}[{])|([$][{]([^}]*)([}]?))|[^$]+|[$]+/g;

/** Splits a text at its references; one empty text for an empty one. */
function partsOf(text: string, offset: number): (string | Call)[] {
  const parts: (string | Call)[] = [];
  for (const match of text.matchAll(PIECES)) {
    const part = partOf(match, offset);
    const last = parts.at(-1);
    if (typeof part === "string" && typeof last === "string") parts[parts.length - 1] = last + part;
    else parts.push(part);
  }
  return parts.length === 0 ? [""] : parts;
}

function partOf([piece, literal, reference, written = "", end]: RegExpExecArray, offset: number): string | Call {
  if (reference === undefined) return literal === undefined ? piece : literal.slice(1);
  const call = end === "" ? undefined : callOf(written);
  if (call === undefined) {
    throw new ProblemAt(offset, `'${reference.slice(0, 80)}' is not known: ${REFERENCES_SENTENCE}`);
  }
  return call;
}
