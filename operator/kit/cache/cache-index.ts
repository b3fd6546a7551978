/** The values under which an object is filed. */
export type IndexFunction<T> = (object: T) => readonly string[];

/** One named index over a cache: value → objects by key. */
export class CacheIndex<T> {
  readonly #valuesOf: IndexFunction<T>;
  readonly #objects = new Map<string, Map<string, T>>();
  /** Key → the values under which it is filed, whatever the function says later. */
  readonly #places = new Map<string, readonly string[]>();

  constructor(valuesOf: IndexFunction<T>) {
    this.#valuesOf = valuesOf;
  }

  /** The objects filed under `value`, unordered. */
  under(value: string): T[] {
    return [...(this.#objects.get(value)?.values() ?? [])];
  }

  /** Refiles the key's object; nowhere without one, or when the index function throws. */
  file(key: string, object: T | undefined): void {
    for (const value of this.#places.get(key) ?? []) this.#drop(value, key);
    this.#places.delete(key);
    if (object === undefined) return;
    const values = this.#valuesOf(object);
    for (const value of values) this.#add(value, key, object);
    if (values.length > 0) this.#places.set(key, values);
  }

  #add(value: string, key: string, object: T): void {
    const objects = this.#objects.get(value) ?? new Map<string, T>();
    objects.set(key, object);
    this.#objects.set(value, objects);
  }

  #drop(value: string, key: string): void {
    const objects = this.#objects.get(value);
    objects?.delete(key);
    if (objects?.size === 0) this.#objects.delete(value);
  }
}
