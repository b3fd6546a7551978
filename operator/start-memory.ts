/** Heap above which a collection would block the process for longer than the memory is worth. */
const SMALL_HEAP_BYTES = 64 * 2 ** 20;

/**
 * Returns memory that only the start needed, a quarter of an idle process: V8 keeps the young space that loading
 * modules grew. Takes less than 100 ms; it grows again on demand.
 *
 * Does nothing without Node's `--expose-gc`, or with a large heap of many environments.
 */
export function giveBackStartMemory(): void {
  if (process.memoryUsage().heapUsed < SMALL_HEAP_BYTES)
    globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
}
