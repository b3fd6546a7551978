import type { TSchema } from "typebox";
import { HttpError } from "../errors.ts";
import { parseJson } from "./json-text.ts";

/** More than any request needs; checked before parsing, because every name costs an entry. */
const MAX_FIELDS = 100;

const ESCAPED = /(?:%[0-9a-f]{2})+/gi;

type Reader = (text: string) => unknown;

/** Booleans of forms and queries; browsers send `on` for a ticked checkbox. */
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...["true", "1", "on", "yes"].map((word) => [word, true] as const),
  ...["false", "0", "off", "no"].map((word) => [word, false] as const),
]);

/** Readers by pattern, because a general coercion takes "0x10", " 7 " or "1e3" for numbers; other texts stay text. */
const READERS: Readonly<Record<string, Reader>> = {
  integer: (text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : text),
  boolean: (text) => BOOLEANS.get(text.toLowerCase()) ?? text,
  object: (text) => parseJson(text),
};

/**
 * Fields of a query or a form in the schema's types. An empty field counts as absent in a query, and where the empty
 * text is no value of its type. Other values stay text, which the schema refuses.
 *
 * @throws HttpError (malformed) for a name given twice, too many names, invalid UTF-8, or broken JSON in an object
 * field
 */
export function fieldsOf(encoded: string, schema: TSchema | undefined, from: "query" | "form"): object {
  const types = typesOf(schema);
  const seen = new Set<string>();
  const fields: [string, unknown][] = [];
  for (const [name, text] of boundedPairs(encoded)) {
    if (seen.has(name)) throw new HttpError("malformed", "A field is given twice");
    seen.add(name);
    const type = types.get(name);
    const isAbsent = text === "" && type !== undefined && (from === "query" || type !== "string");
    if (!isAbsent) fields.push([name, READERS[type ?? ""]?.(text) ?? text]);
  }
  return Object.fromEntries(fields);
}

function typesOf(schema: TSchema | undefined): ReadonlyMap<string, string | undefined> {
  const { properties = {} } = (schema ?? {}) as { properties?: Record<string, { type?: string }> };
  return new Map(Object.entries(properties).map(([name, { type }]) => [name, type]));
}

function boundedPairs(encoded: string): URLSearchParams {
  let fields = 1;
  for (let at = encoded.indexOf("&"); at >= 0; at = encoded.indexOf("&", at + 1)) fields += 1;
  if (fields > MAX_FIELDS) throw new HttpError("malformed", `More than ${MAX_FIELDS} fields`);
  // Decoding would silently insert replacement characters.
  for (const [bytes] of encoded.matchAll(ESCAPED)) checkUtf8(bytes);
  return new URLSearchParams(encoded);
}

function checkUtf8(escaped: string): void {
  try {
    decodeURIComponent(escaped);
  } catch (cause) {
    throw new HttpError("malformed", "A field is not valid UTF-8", { cause });
  }
}
