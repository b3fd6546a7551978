/**
 * Memoizes a function by object: the first result holds, so the object must not change, and it always needs the same
 * further arguments.
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
