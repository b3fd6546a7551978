/** Parts that are remembered to be shared; twice as many at most are held. */
const REMEMBERED = 1_000;
/** In characters. Longer parts are hardly ever alike as a whole, and a thousand of them are hundreds of megabytes. */
const LONGEST_REMEMBERED = 2_048;

type Parts = Record<string, unknown>;

/**
 * Lets many objects share what they say alike: equal parts become one part, kept once.
 *
 * For plain JSON as it was parsed, which nobody else changes. Innermost parts come first, so that two parts are equal when
 * they hold the very same ones. Forgets parts that have not been met for long, and remembers none that is long: the parts
 * of such a one are.
 */
export class Interner {
  #recent = new Map<number, object>();
  #before = new Map<number, object>();
  /** Of the value that was looked at last: a number that equal values have alike, and its length in characters, about. */
  #hash = 0;
  #length = 0;

  /** The object itself, whose parts are now shared with all that were given before; two wholes are hardly ever alike. */
  compact<T extends object>(value: T): T {
    this.#shareParts(value as Parts);
    return value;
  }

  #shared(value: unknown): unknown {
    if (typeof value === "object" && value !== null) return this.#sharedPart(value);
    if (typeof value === "string") unify(value);
    this.#hash = typeof value === "string" ? hashOf(value) : Math.imul(Number(value) + 1, FACTOR);
    this.#length = typeof value === "string" ? value.length : 4;
    return value;
  }

  #sharedPart(part: object): object {
    this.#shareParts(part as Parts);
    if (this.#length > LONGEST_REMEMBERED) return part;
    const known = this.#recent.get(this.#hash) ?? this.#before.get(this.#hash);
    const shared = known !== undefined && holdTheSame(known, part) ? known : part;
    this.#remember(this.#hash, shared);
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

// Any that are odd and have bits all over.
const FACTOR = 0x9e3779b1;
const LIST = 0x2545f491;

/** A few characters tell most texts apart; that two parts are the same is not left to a number. */
function hashOf(text: string): number {
  const { length } = text;
  const ends = text.charCodeAt(0) ^ (text.charCodeAt(length - 1) << 8);
  return Math.imul(ends ^ (text.charCodeAt(length >> 1) << 16) ^ (text.charCodeAt(length >> 2) << 24), FACTOR) + length;
}

/** Whether both hold the very same, under the same names in the same order. */
function holdTheSame(one: object, other: object): boolean {
  const names = Object.keys(one);
  const others = Object.keys(other);
  if (names.length !== others.length || Array.isArray(one) !== Array.isArray(other)) return false;
  return names.every((name, at) => name === others[at] && (one as Parts)[name] === (other as Parts)[name]);
}

const nothing: object = Object.create(null);

/**
 * Makes equal strings one: V8 holds every property name once, for as long as anybody uses it, and a string that has been
 * asked for as a name shares that copy from then on (https://v8.dev/blog/fast-properties).
 */
function unify(text: string): boolean {
  return text in nothing;
}
