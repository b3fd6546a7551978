/**
 * A function that computes its answer once for each object that it is asked with; neither may be changed afterwards. What
 * it is told besides must be the same whenever it is asked with that object: the first answer holds.
 */
export function oncePer<K extends object, V, More extends readonly unknown[]>(
  compute: (key: K, ...more: More) => V,
): (key: K, ...more: More) => V {
  const known = new WeakMap<K, V>();
  return (key, ...more) => {
    const answer = known.get(key) ?? compute(key, ...more);
    if (!known.has(key)) known.set(key, answer);
    return answer;
  };
}
