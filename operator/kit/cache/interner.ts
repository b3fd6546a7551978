/** Remembered parts; at most twice as many are held. */
const REMEMBERED = 1_000;
/** Limit in characters. Longer parts are rarely equal, and a thousand of them take hundreds of megabytes. */
const LONGEST_REMEMBERED = 2_048;

type Parts = Record<string, unknown>;

/**
 * Shares equal parts among objects.
 *
 * For immutable parsed JSON. Innermost parts come first, so equal parts hold identical ones. Unused parts are
 * forgotten; of long parts only their own parts are remembered.
 */
export class Interner {
  #recent = new Map<number, object>();
  #before = new Map<number, object>();
  /** Hash of the last value (equal values have equal hashes) and its approximate length in characters. */
  #hash = 0;
  #length = 0;

  /** The object itself, now with shared parts. Whole objects are rarely equal. */
  compact<T extends object>(object: T): T {
    const { metadata } = object as Parts;
    // Nor are metadata.
    if (typeof metadata === "object" && metadata !== null) this.#compactParts(metadata as Parts);
    this.#compactParts(object as Parts, metadata);
    return object;
  }

  #compactParts(parts: Parts, done?: unknown): void {
    for (const name of Object.keys(parts)) {
      const given = parts[name];
      // Frozen values are shared already.
      if (typeof given === "object" && given !== done && !Object.isFrozen(given)) parts[name] = this.#shared(given);
    }
    unifyTexts(parts);
  }

  #shared(value: unknown): unknown {
    if (typeof value === "object" && value !== null) return this.#sharedPart(value);
    this.#hash = typeof value === "string" ? hashOf(value) : Math.imul(Number(value) + 1, FACTOR);
    this.#length = typeof value === "string" ? value.length : 4;
    return value;
  }

  #sharedPart(part: object): object {
    this.#shareParts(part as Parts);
    if (this.#length > LONGEST_REMEMBERED) {
      unifyTexts(part as Parts);
      return part;
    }
    const hash = this.#hash;
    const known = this.#recent.get(hash);
    if (known !== undefined && holdTheSame(known, part)) return known;
    const former = this.#before.get(hash);
    const isFormer = former !== undefined && holdTheSame(former, part);
    if (!isFormer) unifyTexts(part as Parts);
    const shared = isFormer ? former : part;
    this.#remember(hash, shared);
    return shared;
  }

  #shareParts(parts: Parts): void {
    let hash = Array.isArray(parts) ? LIST : 0;
    let length = 2;
    for (const name of Object.keys(parts)) {
      const given = parts[name];
      const shared = this.#shared(given);
      if (shared !== given) parts[name] = shared;
      hash = Math.imul(hash ^ this.#hash, FACTOR) + name.length;
      length += name.length + this.#length;
    }
    this.#hash = hash | 0;
    this.#length = length;
  }

  #remember(hash: number, part: object): void {
    this.#recent.set(hash, part);
    if (this.#recent.size < REMEMBERED) return;
    this.#before = this.#recent;
    this.#recent = new Map();
  }
}

// Any odd numbers with well-spread bits.
const FACTOR = 0x9e3779b1;
const LIST = 0x2545f491;

/** A few characters distinguish most texts; equality is checked separately. */
function hashOf(text: string): number {
  const { length } = text;
  const ends = text.charCodeAt(0) ^ (text.charCodeAt(length - 1) << 8);
  return Math.imul(ends ^ (text.charCodeAt(length >> 1) << 16) ^ (text.charCodeAt(length >> 2) << 24), FACTOR) + length;
}

/** True when both hold identical values under the same names in the same order. */
function holdTheSame(one: object, other: object): boolean {
  if (Array.isArray(one) || Array.isArray(other)) return areSameLists(one, other);
  const names = Object.keys(one);
  const others = Object.keys(other);
  if (names.length !== others.length) return false;
  for (let at = 0; at < names.length; at += 1) {
    const name = names[at] as string;
    if (name !== others[at] || (one as Parts)[name] !== (other as Parts)[name]) return false;
  }
  return true;
}

function areSameLists(one: object, other: object): boolean {
  if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
  for (let at = 0; at < one.length; at += 1) if (one[at] !== other[at]) return false;
  return true;
}

const nothing: object = Object.create(null);
/** Fields whose texts are rarely equal. */
const UNLIKE: ReadonlySet<string> = new Set(["uid", "resourceVersion"]);

/**
 * Unifies equal strings: V8 keeps every property name once, and a string used as a name shares that copy from then on
 * (https://v8.dev/blog/fast-properties).
 */
function unifyTexts(parts: Parts): void {
  for (const name of Object.keys(parts)) {
    const value = parts[name];
    if (typeof value === "string" && !UNLIKE.has(name)) isName(value);
  }
}

function isName(text: string): boolean {
  return text in nothing;
}
