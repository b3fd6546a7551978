/** Lets so many pieces of work run at once; the others wait in line, the first to come the first to go. */
export function semaphore(atOnce: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = atOnce;
  const line: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free--;
    else await new Promise<void>((enter) => line.push(enter));
    try {
      return await work();
    } finally {
      const next = line.shift();
      if (next) next();
      else free++;
    }
  };
}
