import NodeCache from "node-cache";

interface Bounds {
  readonly ttlSeconds: number;
  readonly mostKept: number;
}

/** Keeps values as they are for a time. A full cache begins anew: NodeCache itself would refuse the next value. */
export class BoundedCache<V> {
  readonly #kept: NodeCache;
  readonly #mostKept: number;

  constructor({ ttlSeconds, mostKept }: Bounds) {
    this.#kept = new NodeCache({ stdTTL: ttlSeconds, useClones: false, checkperiod: 0 });
    this.#mostKept = mostKept;
  }

  get(key: string): V | undefined {
    return this.#kept.get<V>(key);
  }

  set(key: string, value: V): void {
    if (!this.#kept.has(key) && this.#kept.keys().length >= this.#mostKept) this.#kept.flushAll();
    this.#kept.set(key, value);
  }

  delete(key: string): void {
    this.#kept.del(key);
  }
}
