/** The values under which an object is filed. */
export type IndexFunction<T> = (object: T) => readonly string[];

/** One named index over a cache: value → objects by key. */
export class CacheIndex<T> {
  readonly #valuesOf: IndexFunction<T>;
  readonly #filed = new Map<string, Map<string, T>>();

  constructor(valuesOf: IndexFunction<T>) {
    this.#valuesOf = valuesOf;
  }

  /** The objects filed under `value`, in no particular order. */
  under(value: string): T[] {
    return [...(this.#filed.get(value)?.values() ?? [])];
  }

  /** Files `current` in the place of `previous`. */
  move(key: string, current: T | undefined, previous: T | undefined): void {
    if (previous !== undefined) for (const value of this.#valuesOf(previous)) this.#drop(value, key);
    if (current !== undefined) for (const value of this.#valuesOf(current)) this.#file(value, key, current);
  }

  #file(value: string, key: string, object: T): void {
    const objects = this.#filed.get(value) ?? new Map<string, T>();
    objects.set(key, object);
    this.#filed.set(value, objects);
  }

  #drop(value: string, key: string): void {
    const objects = this.#filed.get(value);
    objects?.delete(key);
    if (objects?.size === 0) this.#filed.delete(value);
  }
}
