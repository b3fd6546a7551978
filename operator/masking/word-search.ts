/**
 * Awaited between pieces of work, so that others have their turns meanwhile: undefined while it may go on at once, else a
 * promise that resolves when it may.
 */
export type YieldIfDue = () => Promise<void> | undefined;

/** Nodes visited in a few tenths of a millisecond. */
const NODES_BETWEEN_TURNS = 4_096;
/** Most text does not even begin a word. */
const TABLE_SIZE = 256;

/**
 * Finds many words in one pass over a text, at any number and overlap: the automaton of Aho and Corasick
 * (https://doi.org/10.1145/360825.360855). A node is a prefix of a word, by UTF-16 code units; the root is 0. The
 * searcher holds a node and steps with each unit read.
 *
 * A word's nodes are consecutive, so most need no transition table: 25 bytes each.
 */
export class WordSearch {
  /** The number of steps that were taken so far, from which the cost of a search is counted. */
  work = 0;
  readonly #words = new Map<number, string>();
  /** The nodes that come next, but for the one that follows. */
  readonly #branches = new Map<number, Map<number, number>>();
  readonly #isBranched: Uint8Array;
  readonly #first = new Int32Array(TABLE_SIZE);
  readonly #units: Uint16Array;
  readonly #depths: Uint16Array;
  /** Node of the longest suffix that is also a prefix of a word. */
  readonly #fails: Int32Array;
  /** Next such node with other transitions: where `"""` ends, `""` ends as well. */
  readonly #skips: Int32Array;
  /** Node of the longest word that ends here; 0 for none. */
  readonly #endings: Int32Array;
  /** Position of each node in the tree of fail links, and the size of its subtree. */
  readonly #places: Int32Array;
  readonly #sizes: Int32Array;
  #count = 1;

  private constructor(room: number) {
    this.#isBranched = new Uint8Array(room);
    this.#units = new Uint16Array(room);
    this.#depths = new Uint16Array(room);
    this.#fails = new Int32Array(room);
    this.#skips = new Int32Array(room);
    this.#places = new Int32Array(room);
    this.#sizes = new Int32Array(room);
    this.#endings = new Int32Array(room);
  }

  /** @param words none empty, and none of more than 65,535 code units */
  static async of(words: ReadonlySet<string>, yieldIfDue: YieldIfDue): Promise<WordSearch> {
    let room = 2;
    for (const word of words) room += word.length + 1;
    const search = new WordSearch(room);
    for (const word of words) {
      await yieldIfDue();
      search.#add(word);
    }
    await search.#link(yieldIfDue);
    return search;
  }

  /** Node after one more unit. */
  step(node: number, unit: number): number {
    let from = node;
    for (;;) {
      this.work += 1;
      const next = this.#next(from, unit);
      if (next !== 0 || from === 0) return next;
      from = this.#skips[from] as number;
    }
  }

  /** Node of the longest word that ends here; 0 for none. */
  ending(node: number): number {
    return this.#endings[node] as number;
  }

  /** Node of the next shorter word that ends here; 0 for none. */
  shorter(node: number): number {
    return this.#endings[this.#fails[node] as number] as number;
  }

  /** The number of units that the node stands for. */
  depth(node: number): number {
    return this.#depths[node] as number;
  }

  /** Word of an ending node. */
  word(node: number): string {
    return this.#words.get(node) ?? "";
  }

  /** True where the text of a node ends with that of another: all that is found from the other is found from it, too. */
  endsWith(node: number, other: number): boolean {
    const place = this.#places[node] as number;
    const first = this.#places[other] as number;
    return place >= first && place < first + (this.#sizes[other] as number);
  }

  #next(node: number, unit: number): number {
    if (node === 0 && unit < TABLE_SIZE) return this.#first[unit] as number;
    const follower = node + 1;
    if (this.#units[follower] === unit && this.#isChild(follower, node)) return follower;
    return this.#isBranched[node] === 0 ? 0 : (this.#branches.get(node)?.get(unit) ?? 0);
  }

  /** True for a child of the node; between two words one node stays empty, with depth 0. */
  #isChild(follower: number, node: number): boolean {
    return this.#depths[follower] === this.depth(node) + 1;
  }

  #add(word: string): void {
    let node = 0;
    for (let index = 0; index < word.length; index += 1) {
      const unit = word.charCodeAt(index);
      node = this.#next(node, unit) || this.#grown(node, unit);
    }
    this.#words.set(node, word);
    this.#endings[node] = node;
  }

  #grown(node: number, unit: number): number {
    const follows = node !== 0 && node === this.#count - 1;
    if (!follows) this.#count += 1;
    const made = this.#count;
    this.#count += 1;
    this.#units[made] = unit;
    this.#depths[made] = this.depth(node) + 1;
    if (!follows) this.#branch(node, unit, made);
    return made;
  }

  #branch(node: number, unit: number, made: number): void {
    const branches = this.#branches.get(node) ?? new Map<number, number>();
    this.#branches.set(node, branches.set(unit, made));
    this.#isBranched[node] = 1;
    if (node === 0 && unit < TABLE_SIZE) this.#first[unit] = made;
  }

  /** Level by level, because a node fails to one of a lower level. */
  async #link(yieldIfDue: YieldIfDue): Promise<void> {
    const queue = new Int32Array(this.#count);
    let known = 1;
    for (let index = 0; index < known; index += 1) {
      if (index % NODES_BETWEEN_TURNS === 0) await yieldIfDue();
      const node = queue[index] as number;
      this.#skips[node] = this.#skip(node);
      for (const child of this.#children(node)) {
        this.#fall(child, node);
        queue[known] = child;
        known += 1;
      }
    }
    await this.#place(queue.subarray(0, known), yieldIfDue);
  }

  #fall(child: number, parent: number): void {
    const fail = parent === 0 ? 0 : this.step(this.#fails[parent] as number, this.#units[child] as number);
    this.#fails[child] = fail;
    if (this.ending(child) === 0) this.#endings[child] = this.ending(fail);
  }

  /** @param byLevel all nodes */
  async #place(byLevel: Int32Array, yieldIfDue: YieldIfDue): Promise<void> {
    const [fails, sizes, places] = [this.#fails, this.#sizes, this.#places];
    for (let index = byLevel.length - 1; index >= 0; index -= 1) {
      if (index % NODES_BETWEEN_TURNS === 0) await yieldIfDue();
      const node = byLevel[index] as number;
      sizes[node] = (sizes[node] as number) + 1;
      if (node !== 0) sizes[fails[node] as number] = (sizes[fails[node] as number] as number) + (sizes[node] as number);
    }
    const free = new Int32Array(sizes.length).fill(1);
    for (let index = 1; index < byLevel.length; index += 1) {
      if (index % NODES_BETWEEN_TURNS === 0) await yieldIfDue();
      const node = byLevel[index] as number;
      const fail = fails[node] as number;
      places[node] = (places[fail] as number) + (free[fail] as number);
      free[fail] = (free[fail] as number) + (sizes[node] as number);
    }
  }

  #skip(node: number): number {
    const fail = this.#fails[node] as number;
    if (fail === 0 || this.#isBranched[fail] === 1) return fail;
    const goesOnAlike = !this.#isChild(fail + 1, fail) || this.#next(node, this.#units[fail + 1] as number) !== 0;
    return goesOnAlike ? (this.#skips[fail] as number) : fail;
  }

  #children(node: number): readonly number[] {
    const branches = [...(this.#branches.get(node)?.values() ?? [])];
    return this.#isChild(node + 1, node) ? [node + 1, ...branches] : branches;
  }
}

/** A few tenths of a millisecond. */
const UNITS_BETWEEN_TURNS = 16_384;

/** More work than a call may make. */
export class TooMuchWork extends Error {
  override readonly name = "TooMuchWork";
}

/** The steps that one call may take, whatever the machine and its load. It says when others have their turn. */
export class Work {
  readonly #yieldIfDue: YieldIfDue;
  #left: number;
  #untilTurn = UNITS_BETWEEN_TURNS;

  constructor(units: number, yieldIfDue: YieldIfDue) {
    this.#left = units;
    this.#yieldIfDue = yieldIfDue;
  }

  /** @throws TooMuchWork when not so much is left */
  spend(units: number): void {
    this.#left -= units;
    this.#untilTurn -= units;
    if (this.#left < 0) throw new TooMuchWork();
  }

  /** Gives way when it is time; to be awaited between pieces of work. */
  yieldIfDue(): Promise<void> | undefined {
    if (this.#untilTurn > 0) return undefined;
    this.#untilTurn = UNITS_BETWEEN_TURNS;
    return this.#yieldIfDue();
  }
}
