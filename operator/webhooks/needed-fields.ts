import { JSON_MAX_DEPTH } from "../../crds/json.ts";
import { KeptBytes } from "../kit/kept-bytes.ts";
import { WebhookMalformed, WebhookTooLarge } from "../ports/api/webhook-inbox.ts";
import { READ_FIELDS } from "../ports/webhooks/webhook-format.ts";

const KEPT_MAX_BYTES = 1_048_576;
/** Longer field names are unread ones, even fully escaped. */
const NAME_MAX_BYTES = 128;
const MAX_FIELDS = 1_000;
const NAMES: ReadonlySet<string> = new Set(READ_FIELDS);

const [QUOTE, BACKSLASH, COLON, COMMA, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x3a, 0x2c, 0x7b, 0x7d] as const;
const [OTHER, TEXT, OPEN, CLOSE, END_OF_VALUE] = [0, 1, 2, 3, 4] as const;
/** Meaning of a byte outside texts. These bytes are part of no other UTF-8 character. */
const MEANING = new Uint8Array(256);
for (const [sign, meaning] of [
  ['"', TEXT],
  ["[", OPEN],
  ["{", OPEN],
  ["]", CLOSE],
  ["}", CLOSE],
  [",", END_OF_VALUE],
] as const) {
  MEANING[sign.charCodeAt(0)] = meaning;
}

const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/**
 * Fields of an arriving JSON object that formats read (`READ_FIELDS`); others are skipped without being built, so that
 * memory is bounded for any body. Of skipped ones only brackets and texts are checked. Results are unverified until the
 * body is.
 */
export class NeededFields {
  #reads: (chunk: Buffer, at: number) => number = this.#start;
  readonly #fields = new Map<string, unknown>();
  #keptBytes = 0;
  /** Current name; its length may exceed the buffer. */
  readonly #name = Buffer.alloc(NAME_MAX_BYTES);
  #nameLength = 0;
  #fieldCount = 0;
  #value: KeptBytes | undefined;
  #valueOf = "";
  #isInText = false;
  #isEscaped = false;
  /** Open brackets of the current value, as bits, innermost last: 1 for an array. */
  #arrays = 0;
  #depth = 0;

  /** @throws WebhookMalformed; WebhookTooLarge when more than the limit would be kept */
  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) at = this.#reads(chunk, at);
  }

  /** Complete fields so far. */
  get soFar(): Readonly<Record<string, unknown>> {
    return Object.fromEntries(this.#fields);
  }

  /** All fields, after the body. @throws WebhookMalformed before its end */
  end(): Readonly<Record<string, unknown>> {
    if (this.#reads !== this.#afterObject) throw notJson();
    return this.soFar;
  }

  #start(chunk: Buffer, at: number): number {
    if (isBlank(chunk[at])) return at + 1;
    if (chunk[at] !== OPEN_OBJECT) throw new WebhookMalformed("The body is not a JSON object");
    this.#reads = this.#firstName;
    return at + 1;
  }

  #firstName(chunk: Buffer, at: number): number {
    if (chunk[at] !== CLOSE_OBJECT) return this.#nextName(chunk, at);
    this.#reads = this.#afterObject;
    return at + 1;
  }

  #nextName(chunk: Buffer, at: number): number {
    if (isBlank(chunk[at])) return at + 1;
    if (chunk[at] !== QUOTE) throw notJson();
    this.#fieldCount += 1;
    if (this.#fieldCount > MAX_FIELDS) throw new WebhookMalformed(`The body has more than ${MAX_FIELDS} fields`);
    this.#nameLength = 0;
    this.#isInText = true;
    this.#reads = this.#inName;
    return at + 1;
  }

  #inName(chunk: Buffer, at: number): number {
    const end = this.#endOfText(chunk, at);
    const length = (this.#isInText ? end : end - 1) - at;
    if (this.#nameLength + length <= NAME_MAX_BYTES) chunk.copy(this.#name, this.#nameLength, at, at + length);
    this.#nameLength += length;
    if (!this.#isInText) this.#reads = this.#afterName;
    return end;
  }

  #afterName(chunk: Buffer, at: number): number {
    if (isBlank(chunk[at])) return at + 1;
    if (chunk[at] !== COLON) throw notJson();
    this.#valueOf = this.#nameOf();
    const isRead = NAMES.has(this.#valueOf);
    if (isRead && this.#fields.has(this.#valueOf)) throw new WebhookMalformed("A field is given twice");
    this.#value = isRead ? new KeptBytes() : undefined;
    this.#reads = this.#inValue;
    return at + 1;
  }

  #nameOf(): string {
    if (this.#nameLength > NAME_MAX_BYTES) return "";
    const text = this.#name.toString("latin1", 0, this.#nameLength);
    return text.includes("\\") ? String(parsed(`"${text}"`)) : text;
  }

  /** Reads to the comma or bracket after the value, or the end of the chunk. */
  #inValue(chunk: Buffer, from: number): number {
    let at = from;
    if (this.#isInText) at = this.#endOfText(chunk, at);
    while (at < chunk.length) {
      const meaning = MEANING[chunk[at] as number];
      if (meaning === OTHER) at += 1;
      else if (this.#depth === 0 && (meaning === END_OF_VALUE || meaning === CLOSE))
        return this.#endValue(chunk, from, at);
      else at = this.#sign(meaning as number, chunk, at);
    }
    this.#keep(chunk, from, at);
    return at;
  }

  #sign(meaning: number, chunk: Buffer, at: number): number {
    if (meaning === TEXT) {
      this.#isInText = true;
      return this.#endOfText(chunk, at + 1);
    }
    if (meaning === OPEN) this.#open(chunk[at] !== OPEN_OBJECT);
    if (meaning === CLOSE) this.#close(chunk[at] !== CLOSE_OBJECT);
    return at + 1;
  }

  #open(isArray: boolean): void {
    this.#depth += 1;
    if (this.#depth >= JSON_MAX_DEPTH)
      throw new WebhookMalformed(`The body is nested deeper than ${JSON_MAX_DEPTH} levels`);
    this.#arrays = (this.#arrays << 1) | Number(isArray);
  }

  #close(isArray: boolean): void {
    if ((this.#arrays & 1) !== Number(isArray)) throw notJson();
    this.#arrays >>>= 1;
    this.#depth -= 1;
  }

  #endValue(chunk: Buffer, from: number, at: number): number {
    this.#keep(chunk, from, at);
    if (this.#value !== undefined) this.#fields.set(this.#valueOf, parsed(this.#value.text()));
    this.#value = undefined;
    const isEnd = chunk[at] !== COMMA;
    if (isEnd && chunk[at] !== CLOSE_OBJECT) throw notJson();
    this.#reads = isEnd ? this.#afterObject : this.#nextName;
    return at + 1;
  }

  #keep(chunk: Buffer, from: number, to: number): void {
    if (this.#value === undefined) return;
    this.#keptBytes += to - from;
    if (this.#keptBytes > KEPT_MAX_BYTES) {
      throw new WebhookTooLarge(`The fields of the body that are read may have ${KEPT_MAX_BYTES} bytes at most`);
    }
    this.#value.add(chunk.subarray(from, to));
  }

  /** Index behind the text's closing quote, or the chunk's end. */
  #endOfText(chunk: Buffer, from: number): number {
    let at = this.#isEscaped ? from + 1 : from;
    this.#isEscaped = false;
    while (at < chunk.length && chunk[at] !== QUOTE) at += chunk[at] === BACKSLASH ? 2 : 1;
    if (at < chunk.length) {
      this.#isInText = false;
      return at + 1;
    }
    this.#isEscaped = at > chunk.length;
    return chunk.length;
  }

  #afterObject(chunk: Buffer, at: number): number {
    if (!isBlank(chunk[at])) throw notJson();
    return at + 1;
  }
}

const notJson = (cause?: unknown): Error => new WebhookMalformed("The body is not valid JSON", { cause });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw notJson(cause);
  }
}
