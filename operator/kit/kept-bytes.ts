const FIRST_BYTES = 1_024;
const BLOCK_BYTES = 262_144;

/** Copies of bytes: a chunk of one byte may hold the memory of a whole network read. */
export class KeptBytes {
  readonly #full: Buffer[] = [];
  #block = Buffer.alloc(0);
  #used = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(bytes: Buffer): void {
    let from = 0;
    while (from < bytes.length) {
      if (this.#used === this.#block.length) this.#nextBlock();
      const copied = bytes.copy(this.#block, this.#used, from);
      this.#used += copied;
      from += copied;
    }
    this.#length += bytes.length;
  }

  /** Ordered pieces. */
  pieces(): readonly Buffer[] {
    return [...this.#full, this.#block.subarray(0, this.#used)];
  }

  /** Decodes the bytes as UTF-8. */
  text(): string {
    return Buffer.concat(this.pieces()).toString("utf8");
  }

  #nextBlock(): void {
    if (this.#used > 0) this.#full.push(this.#block);
    this.#block = Buffer.allocUnsafeSlow(Math.min(BLOCK_BYTES, Math.max(FIRST_BYTES, this.#length)));
    this.#used = 0;
  }
}
