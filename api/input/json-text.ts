import { JSON_MAX_DEPTH } from "../../crds/json.ts";
import { HttpError } from "../errors.ts";

/** Keys through which a merge could reach a prototype. */
const PROTOTYPE_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads untrusted JSON: nesting and keys are checked on the text before `JSON.parse` builds anything.
 *
 * @throws HttpError (malformed) for invalid UTF-8 or JSON, too deep nesting, a doubled key (JSON.parse would silently
 * keep the last, another reader the first) or one that names a prototype
 */
export function parseJson(bytes: Uint8Array | string): unknown {
  const text = typeof bytes === "string" ? bytes : utf8Text(bytes);
  checkDepth(typeof bytes === "string" ? Buffer.from(bytes) : bytes);
  checkKeys(text);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new HttpError("malformed", "The body is not valid JSON", { cause });
  }
}

/** Text of a body. @throws HttpError (malformed) where it is not UTF-8 */
export function utf8Text(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new HttpError("malformed", "The body is not valid UTF-8", { cause });
  }
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
/** Effect of a byte outside of texts on the depth. */
const STEPS = new Map([
  [0x5b, 1],
  [0x7b, 1],
  [0x5d, -1],
  [0x7d, -1],
]);

/**
 * Refuses too deeply nested JSON before anything is built of it, by bytes: those of brackets and quotes are part of no
 * other character of UTF-8.
 *
 * @throws HttpError (malformed)
 */
export function checkDepth(bytes: Uint8Array): void {
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) at = endOfText(bytes, at + 1);
    depth += STEPS.get(byte) ?? 0;
    if (depth > JSON_MAX_DEPTH)
      throw new HttpError("malformed", `The body is nested deeper than ${JSON_MAX_DEPTH} levels`);
  }
}

function endOfText(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

/**
 * A bracket, or a whole string with the colon of a key. A string without end matches to the end of the text: otherwise
 * every quote in it would be tried as a beginning.
 */
const TOKEN = /[{}[\]]|"[^"\\]*(?:\\.[^"\\]*)*(?:"(?:\s*:)?|\\?$)/gs;

function checkKeys(text: string): void {
  const open: Set<string>[] = [];
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === "{" || token === "[") open.push(new Set());
    else if (token === "}" || token === "]") open.pop();
    else if (token.endsWith(":")) noteKey(token, open.at(-1));
  }
}

function noteKey(token: string, keys: Set<string> | undefined): void {
  const key = keyOf(token);
  if (key === undefined || keys === undefined) return; // broken: JSON.parse says so
  if (PROTOTYPE_KEYS.has(key)) throw new HttpError("malformed", `The key '${key}' is not allowed`);
  if (keys.has(key)) throw new HttpError("malformed", "A key is given twice in one object");
  keys.add(key);
}

function keyOf(token: string): string | undefined {
  const quoted = token.slice(0, token.lastIndexOf('"') + 1);
  if (!quoted.includes("\\")) return quoted.slice(1, -1);
  try {
    return String(JSON.parse(quoted));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
