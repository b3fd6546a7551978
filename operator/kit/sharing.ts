/** Parts that are remembered to be shared; twice as many at most are held. */
const REMEMBERED = 1_000;

/**
 * Lets many objects share what they say alike: equal parts become one part, kept once.
 *
 * For plain JSON that nobody changes. What it answers is equal to what it was given, and packed as JSON.parse packs it,
 * which takes half the room of an object that was built field by field. Forgets parts that have not been met for long.
 */
export class Sharing {
  #recent = new Map<string, object>();
  #before = new Map<string, object>();

  /** The same value, whose parts are shared with all that were given before. */
  compact<T extends object>(value: T): T {
    const packed = JSON.parse(JSON.stringify(value));
    this.#shareParts(packed);
    return packed;
  }

  /** The parts themselves, not the whole: two objects are hardly ever alike as a whole. */
  #shareParts(whole: Record<string, unknown>): void {
    for (const name of Object.keys(whole)) {
      const part = whole[name];
      if (typeof part === "string") unify(part);
      else if (typeof part === "object" && part !== null) whole[name] = this.#shared(part);
    }
  }

  #shared(part: object): object {
    const text = JSON.stringify(part);
    const known = this.#recent.get(text) ?? this.#before.get(text);
    if (known === undefined) this.#shareParts(part as Record<string, unknown>);
    const shared = known ?? part;
    this.#remember(text, shared);
    return shared;
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
