/** Parts that are remembered to be shared; twice as many at most are held. */
const REMEMBERED = 1_000;
/** In characters of JSON. Longer parts are hardly ever alike as a whole, and a thousand of them are hundreds of megabytes. */
const LONGEST_REMEMBERED = 2_048;

/**
 * Lets many objects share what they say alike: equal parts become one part, kept once.
 *
 * For plain JSON that nobody changes. What it answers is equal to what it was given, and packed as JSON.parse packs it,
 * which takes half the room of an object that was built field by field. Forgets parts that have not been met for long,
 * and remembers none that is long: the parts of such a one are.
 */
export class Sharing {
  #recent = new Map<string, object>();
  #before = new Map<string, object>();

  /** The same value, whose parts are shared with all that were given before; two wholes are hardly ever alike. */
  compact<T extends object>(value: T): T {
    const whole = { ...value } as Record<string, unknown>;
    for (const name of Object.keys(whole)) whole[name] = this.#shared(whole[name]);
    return whole as T;
  }

  /** The part that stands for all that are equal to it; one that is new is packed, unless the whole was before. */
  #shared(part: unknown, isPacked = false): unknown {
    if (typeof part === "string") unify(part);
    if (typeof part !== "object" || part === null) return part;
    const text = JSON.stringify(part);
    if (text.length > LONGEST_REMEMBERED) return this.#withSharedParts(isPacked ? part : JSON.parse(text));
    const known = this.#recent.get(text) ?? this.#before.get(text);
    const shared = known ?? this.#withSharedParts(isPacked ? part : JSON.parse(text));
    this.#remember(text, shared);
    return shared;
  }

  #withSharedParts(packed: object): object {
    const parts = packed as Record<string, unknown>;
    for (const name of Object.keys(parts)) parts[name] = this.#shared(parts[name], true);
    return packed;
  }

  #remember(text: string, part: object): void {
    this.#recent.set(text, part);
    if (this.#recent.size < REMEMBERED) return;
    this.#before = this.#recent;
    this.#recent = new Map();
  }
}

/**
 * Makes equal strings one: V8 holds every property name once, for as long as anybody uses it, and a string that has been
 * a name shares that copy from then on (https://v8.dev/blog/fast-properties).
 */
function unify(text: string): void {
  names[text] = true;
  met += 1;
  if (met < REMEMBERED) return;
  names = Object.create(null);
  met = 0;
}

let names: Record<string, true> = Object.create(null);
let met = 0;
