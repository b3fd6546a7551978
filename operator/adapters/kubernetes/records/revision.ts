interface Changing {
  subscribe(listener: () => void): () => void;
}

/** A number that every change of one of the caches raises. */
export function revisionOf(caches: readonly Changing[]): () => number {
  let revision = 0;
  const raise = () => {
    revision += 1;
  };
  for (const cache of caches) cache.subscribe(raise);
  return () => revision;
}
